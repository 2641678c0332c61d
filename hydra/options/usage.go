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

// Usage is the text of -help, or of -OPTION -h when that was asked for.
func Usage(c CommandLine) string {
	if c.topic != nil {
		return c.topic.help()
	}
	var b strings.Builder
	b.WriteString("Usage: mpiexec [global options] [local options] PROGRAM [ARGS] [: [local options] PROGRAM [ARGS]]...\n")
	for _, group := range optionTable() {
		writeOptions(&b, group)
	}
	b.WriteString("\nOptions take any number of dashes, any case, and -opt=value as well as -opt value.\n" +
		"mpiexec -OPTION -h says more about an option.\n\n" +
		"The exit code is that of the ranks, all or-ed together, or the number of the signal that ended the first of them;\n" +
		"255 is mpiexec's own.\n\n" +
		"Examples:\n" +
		"  mpiexec -n 16 ./flat                        16 processes, one rank each\n" +
		"  mpiexec -n 16 -rpp 4 ./prog                 4 processes with 4 thread ranks each\n" +
		"  mpiexec -n 1 ./master : -n 8 ./worker       two programs in one job\n")
	return b.String()
}

func writeOptions(b *strings.Builder, group optionGroup) {
	fmt.Fprintf(b, "\n%s\n", group.title)
	for _, opt := range group.options {
		fmt.Fprintf(b, "  %-45s  %s\n", opt.synopsis(), opt.short)
	}
}

func (o *option) synopsis() string {
	return strings.TrimSpace("-" + strings.Join(o.names, ", -") + " " + o.args)
}

func (o *option) help() string {
	text := o.synopsis() + "\n" + o.short + "\n"
	if o.long != "" {
		text += o.long + "\n"
	}
	return text
}

// BuildDetails is the text of -info, in the words and columns of Hydra's: tools tell the launcher by it.
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
