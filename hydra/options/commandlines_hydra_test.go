// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// A reading is how a launcher understands a command line, as far as the output of Hydra's -verbose shows it.
type reading struct {
	hosts      []string // of each rank
	apps       []app
	env        []string
	timeout    string
	cleanUp    bool
	port       bool
	binding    string
	launcher   string
	complaints string // what it says when it refuses the line; then all other fields are empty
}

// An app is a segment.
type app struct {
	ranks   int
	env     []string
	inherit string
	wdir    string
	args    string
}

// Each line is read as mpiexec.hydra reads it: hosts of the ranks, programs, arguments, folders, variables, and the rest that it
// shows. The file marks lines that Hydra does not know, and lines that it reads in another way. The test checks that this is so.
func TestCommandLinesAsHydra(t *testing.T) {
	testsupport.Require(t, "mpiexec.hydra")
	testsupport.NothingLeft(t)
	lines, _ := readCommandLines(t)
	for _, line := range lines {
		opts, made, err := line.plan()
		require.NoError(t, err, line.text)
		theirs := readAsHydra(t, line)
		if line.hydra {
			assert.Equal(t, theirs, ourReading(t, opts, made, theirs), line.text)
		} else {
			assert.NotEqual(t, theirs, ourReading(t, opts, made, theirs), line.text)
		}
	}
}

// ourReading returns our reading of a line in the same form. If Hydra chooses a launcher itself, we may choose another one.
func ourReading(t *testing.T, opts CommandLine, made plan.Plan, theirs reading) reading {
	t.Helper()
	r := reading{
		hosts:    make([]string, made.Size),
		env:      opts.Env,
		timeout:  "-1",
		cleanUp:  !opts.Exit.KeepRunning,
		port:     opts.PMI.Port,
		binding:  fmt.Sprint(opts.Hardware.Bind),
		launcher: theirs.launcher,
	}
	if opts.Launch.Launcher != "" {
		r.launcher = opts.Launch.Launcher
	}
	if opts.Timeout > 0 {
		r.timeout = strconv.Itoa(int(opts.Timeout / time.Second))
	}
	dir, err := os.Getwd()
	require.NoError(t, err)
	for _, segment := range opts.Segments {
		a := app{env: segment.Env, inherit: "all", wdir: dir, args: fmt.Sprintf("%d %s", len(segment.Args), strings.Join(segment.Args, " "))}
		if segment.Wdir != "" {
			a.wdir = segment.Wdir
		}
		if segment.Inherit != nil {
			a.inherit = strings.Join(segment.Inherit, ",")
		}
		r.apps = append(r.apps, a)
	}
	for _, host := range made.Hosts {
		for _, set := range host.Sets {
			r.apps[set.Program].ranks += len(set.Ranks)
			for _, rank := range set.Ranks {
				r.hosts[rank] = host.Name
			}
		}
	}
	return r
}

// readAsHydra makes mpiexec.hydra print what it would launch. It tries again if mpiexec.hydra ends without output, which sometimes
// happens under load.
func readAsHydra(t *testing.T, line typedLine) reading {
	t.Helper()
	text := ""
	for try := 0; try < 5 && text == ""; try++ {
		text = verboseHydra(t, line)
	}
	return parseReading(text)
}

// verboseHydra returns what mpiexec.hydra prints before it launches. true(1) takes the place of its proxies.
func verboseHydra(t *testing.T, line typedLine) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "mpiexec.hydra", slices.Concat([]string{"-verbose"}, line.args)...)
	cmd.Env = slices.Concat([]string{"PATH=" + os.Getenv("PATH"), "HYDRA_LAUNCHER_AUTOFORK=0", "HYDRA_LAUNCHER_EXEC=true"}, line.environ)
	stdin, end, err := os.Pipe() // does not end: see testsupport.Hydra
	require.NoError(t, err)
	defer stdin.Close()
	defer end.Close()
	cmd.Stdin = stdin
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	var text strings.Builder
	for scanner := bufio.NewScanner(output); scanner.Scan() && !strings.Contains(scanner.Text(), "Launch arguments:"); {
		text.WriteString(scanner.Text() + "\n")
	}
	cancel()
	_ = cmd.Wait()
	return text.String()
}

func parseReading(text string) (r reading) {
	self, _ := os.Hostname()
	var names, mapping []string
	for row := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(row, "[mpiexec@") && strings.Contains(row, "Timeout set to"):
			r.timeout = field(row, `Timeout set to (\S+)`)
		case strings.HasPrefix(row, "Proxy launch args:"):
			r.port = field(row, `--pmi-port (\S+)`) == "1"
			r.launcher = field(row, `--launcher (\S+)`)
		case strings.HasPrefix(row, "--version"):
			names = append(names, strings.Replace(field(row, `--hostname (\S+)`), self, "here", 1))
			mapping = []string{field(row, `--pmi-process-mapping (\S+)`), field(row, `--global-process-count (\S+)`)}
			r.cleanUp = field(row, `--auto-cleanup (\S+)`) == "1"
			r.binding = field(row, `--binding (\S+)`)
			r.env = assignments(row, "--global-user-env")
			r.readApps(row)
		}
	}
	if names == nil {
		return reading{complaints: text}
	}
	r.hosts = expand(mapping[0], mapping[1], names)
	return r
}

// readApps adds the programs that a proxy has to run.
func (r *reading) readApps(row string) {
	inherit := field(row, `--genv-prop (\S+)`)
	for _, part := range strings.Split(row, " --exec --exec-appnum ")[1:] {
		number, _ := strconv.Atoi(field(" "+part, ` (\d+)`))
		for len(r.apps) <= number {
			r.apps = append(r.apps, app{})
		}
		a := &r.apps[number]
		more, _ := strconv.Atoi(field(part, `--exec-proc-count (\d+)`))
		a.ranks += more
		a.env = assignments(part, "--exec-local-env")
		a.inherit = inherit
		if own := field(part, `--exec-env-prop (\S+)`); own != "" {
			a.inherit = own
		}
		a.inherit = strings.TrimPrefix(a.inherit, "list:")
		switch a.inherit {
		case "":
			a.inherit = "all"
		case "none":
			a.inherit = ""
		}
		a.wdir = field(part, `--exec-wdir (\S+)`)
		_, a.args, _ = strings.Cut(part, "--exec-args ")
		a.args = strings.TrimSuffix(strings.TrimSuffix(a.args, "\n"), " ")
	}
}

func field(text, pattern string) string {
	if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// assignments returns the quoted words that follow a name and their number.
func assignments(text, name string) []string {
	_, text, _ = strings.Cut(text, name+" ")
	number, text, _ := strings.Cut(text, " ")
	count, _ := strconv.Atoi(number)
	var list []string
	for _, m := range regexp.MustCompile(`'([^']*)'`).FindAllStringSubmatch(text, count) {
		list = append(list, m[1])
	}
	return list
}

// expand returns the host of each rank from a PMI_process_mapping. The mapping is repeated until all ranks have a host.
func expand(mapping, size string, names []string) []string {
	ranks, _ := strconv.Atoi(size)
	hosts := []string{}
	blocks := regexp.MustCompile(`\((\d+),(\d+),(\d+)\)`).FindAllStringSubmatch(mapping, -1)
	for i := 0; len(hosts) < ranks && len(blocks) > 0; i++ {
		var n [3]int
		for k := range n {
			n[k], _ = strconv.Atoi(blocks[i%len(blocks)][k+1])
		}
		for node := n[0]; node < n[0]+n[1]; node++ {
			for range n[2] {
				hosts = append(hosts, names[node%len(names)])
			}
		}
	}
	return hosts[:ranks]
}
