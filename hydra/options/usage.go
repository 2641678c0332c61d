// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/tpsl/tpsl/hydra/launch"
	"github.com/tpsl/tpsl/internal/version"
)

// basics are the options that most people need, and how -h writes them.
var basics = []string{
	"-n N", "-rpp K", "-tpsl shared|private", "-hosts HOST[:N],...", "-f FILE", "-ppn N", "-genv NAME VALUE", "-wdir DIR", "-l",
	"-outfile-pattern FILE", "-stdin none|all|RANKS", "-bind-to core|numa|...", "-report-bindings", "-timeout SECONDS",
	"-gdb RANKS", "-report FILE",
}

const synopsis = "Usage: mpiexec [OPTIONS] PROGRAM [ARGS] [: [OPTIONS] PROGRAM [ARGS]]...\n"

const examples = "  mpiexec -n 16 ./flat                     16 processes, one rank each\n" +
	"  mpiexec -n 16 -rpp 4 ./prog              4 processes with 4 thread ranks each\n" +
	"  mpiexec -n 1 ./master : -n 8 ./worker    two programs in one job\n"

// Usage is the text of -h, -h all or -OPTION -h, whichever was asked for. The first two fit 80 columns.
func Usage(c CommandLine) string {
	switch {
	case c.topic != nil:
		return c.topic.help()
	case c.allOptions:
		return fullUsage()
	}
	var b strings.Builder
	b.WriteString(synopsis + "\n")
	for _, text := range basics {
		name, _, _ := strings.Cut(text[1:], " ")
		opt, _ := findOption(name)
		fmt.Fprintf(&b, "  %-22s  %s\n", text, opt.short)
	}
	b.WriteString("\nmpiexec -h all lists all options, and mpiexec -OPTION -h says more about one.\n\n" + examples)
	return b.String()
}

// fullUsage lists every option with all of its names. Completion of shells reads it: a line that begins with two spaces and a
// dash has names, the argument, and maybe behind two spaces the explanation, which else follows on a line of its own.
func fullUsage() string {
	var b strings.Builder
	b.WriteString(synopsis)
	for _, group := range optionTable() {
		fmt.Fprintf(&b, "\n%s\n", group.title)
		for _, opt := range group.options {
			opt.list(&b)
		}
	}
	b.WriteString("\nOptions take any number of dashes, any case, and -opt=value as well as\n" +
		"-opt value. mpiexec -OPTION -h says more about an option.\n\n" +
		"The exit code is that of the ranks, all or-ed together, or the number of the\n" +
		"signal that ended the first of them; 255 is mpiexec's own.\n\n" +
		"Examples:\n" + examples)
	return b.String()
}

// columns is how wide the lists of options are.
const columns = 80

// list writes the names of the option, on as many lines as they need, and what it does.
func (o *option) list(b *strings.Builder) {
	line := "  -" + o.names[0]
	for _, name := range o.names[1:] {
		next := line + ", -" + name
		if len(next)+len(o.argument()) > columns {
			b.WriteString(strings.TrimRight(line+o.argument(), " ") + "\n")
			next = "  -" + name
		}
		line = next
	}
	line = strings.TrimRight(line+o.argument(), " ")
	if short := fmt.Sprintf("%-26s  %s\n", line, o.short); len(line) <= 26 && len(short) <= columns+1 {
		b.WriteString(short)
		return
	}
	fmt.Fprintf(b, "%s\n        %s\n", line, o.short)
}

func (o *option) synopsis() string {
	return strings.TrimSpace("-" + strings.Join(o.names, ", -") + o.argument())
}

// argument is what help shows behind the name.
func (o *option) argument() string {
	if o.isOptional() {
		return o.args
	}
	return " " + o.args
}

func (o *option) help() string {
	text := o.synopsis() + "\n" + o.short + "\n"
	if o.long != "" {
		text += o.long + "\n"
	}
	return text
}

// BuildDetails is the text of -info. It has the words and columns of Hydra's text, because tools recognise the launcher by them.
func BuildDetails() string {
	var b strings.Builder
	b.WriteString("HYDRA build details:\n")
	for _, row := range [][2]string{
		{"Version:", version.Version + " (tpsl)"},
		{"Go:", fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)},
		{"Process Manager:", "pmi"},
		{"Launchers available:", strings.Join(launch.Names, " ")},
		{"Topology libraries available:", "sysfs"},
		{"Resource management kernels available:", strings.Join(resourceManagers, " ")},
		{"Demux engines available:", "netpoll"},
	} {
		fmt.Fprintf(&b, "    %-40s %s\n", row[0], row[1])
	}
	return b.String()
}
