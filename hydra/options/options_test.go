// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/topology"
)

// ranks makes a range of ranks from each two bounds. Both bounds are included.
func ranks(bounds ...int) plan.Ranks {
	list := plan.Ranks{}
	for i := 0; i < len(bounds); i += 2 {
		list = append(list, plan.RankRange{First: bounds[i], Last: bounds[i+1]})
	}
	return list
}

// Every name of every option sets its field and no other.
func TestEveryOption(t *testing.T) {
	tested := map[string]bool{}
	for _, tt := range []struct {
		lines string // options with | between them that do the same
		want  func(*CommandLine)
	}{
		{"-n 3|-np 3", func(o *CommandLine) { o.Segments[0].Ranks = 3 }},
		{"-rpp 2|-ranks-per-process 2", func(o *CommandLine) { o.Segments[0].PerProcess = 2 }},
		{"-progress neighbours", func(o *CommandLine) { o.Segments[0].Env = []string{"TPSL_PROGRESS=neighbours"} }},
		{"-state", func(o *CommandLine) { o.State.Noted = true }},
		{"-hang-report 1.5", func(o *CommandLine) { o.State.HangAfter = 1500 * time.Millisecond }},
		{"-tpsl private", func(o *CommandLine) { o.Segments[0].Mode = plan.ModePrivate }},
		{"-wdir /tmp", func(o *CommandLine) { o.Segments[0].Wdir = "/tmp" }},
		{"-path /a:/b", func(o *CommandLine) { o.Segments[0].Path = "/a:/b" }},
		{"-soft 2", func(o *CommandLine) { o.Segments[0].Ranks = 2 }},
		{"-env A 1|-env A=1", func(o *CommandLine) { o.Segments[0].Env = []string{"A=1"} }},
		{"-envlist A,B|-genvlist A,B", func(o *CommandLine) { o.Segments[0].Inherit = []string{"A", "B"} }},
		{"-envnone|-genvnone", func(o *CommandLine) { o.Segments[0].Inherit = []string{} }},
		{"-hosts a:2,b|-host a:2,b|-hostlist a:2,b|-hosts-group a:2,b|-machine a:2,b|-machines a:2,b|-machinelist a:2,b",
			func(o *CommandLine) { o.Hosts.List = "a:2,b" }},
		{"-f x|-hostfile x|-machinefile x", func(o *CommandLine) { o.Hosts.File = "x" }},
		{"-ppn 4|-perhost 4|-grr 4", func(o *CommandLine) { o.Hosts.PPN = 4 }},
		{"-rr", func(o *CommandLine) { o.Hosts.PPN = 1 }},
		{"-rankmap 0,1,1", func(o *CommandLine) { o.Hosts.RankMap = "0,1,1" }},
		{"-print-rank-map", func(o *CommandLine) { o.Hosts.PrintRankMap = true }},
		{"-order-nodes UP|-order-nodes ascending", func(o *CommandLine) { o.Hosts.Order = "up" }},
		{"-order-nodes down|-order-nodes DESCENDING", func(o *CommandLine) { o.Hosts.Order = "down" }},
		{"-skip-launch-node|-nolocal", func(o *CommandLine) { o.Hosts.SkipLaunchNode = true }},
		{"-rmk slurm", func(o *CommandLine) { o.Hosts.RMK = "slurm" }},
		{"-iface eth0", func(o *CommandLine) { o.Hosts.Iface, o.Hosts.PropagateName = "eth0", false }},
		{"-localhost me", func(o *CommandLine) { o.Hosts.LocalName = "me" }},
		{"-disable-hostname-propagation", func(o *CommandLine) { o.Hosts.PropagateName = false }},
		{"-enable-hostname-propagation|-envall|-genvall|-enable-auto-cleanup|-arch x|-initial-errhandler mpi_errors_return|-nameserver h:1|-demux poll|-topolib hwloc|-oversubscribe|-allow-run-as-root",
			func(*CommandLine) {}},
		{"-genv A 1|-genv A=1", func(o *CommandLine) { o.Env = []string{"A=1"} }},
		{"-l|-prepend-rank", func(o *CommandLine) { o.Stdio.Label = plan.LabelPattern }},
		{"-prepend-pattern %r:", func(o *CommandLine) { o.Stdio.Label = "%r:" }},
		{"-outfile-pattern o.%r|-outfile o.%r", func(o *CommandLine) { o.Stdio.OutFile = "o.%r" }},
		{"-errfile-pattern e.%r|-errfile e.%r", func(o *CommandLine) { o.Stdio.ErrFile = "e.%r" }},
		{"-output-from 0,3-5", func(o *CommandLine) { o.Stdio.From = ranks(0, 0, 3, 5) }},
		{"-stdin all|-s ALL", func(o *CommandLine) { o.Stdio.Stdin = plan.AllRanks() }},
		{"-stdin 1-2|-s 1-2", func(o *CommandLine) { o.Stdio.Stdin = ranks(1, 2) }},
		{"-timeout 1.5", func(o *CommandLine) { o.Timeout = 1500 * time.Millisecond }},
		{"-exit-code MAX", func(o *CommandLine) { o.Exit.Code = plan.ExitMax }},
		{"-exit-code 128+sig", func(o *CommandLine) { o.Exit.Code = plan.ExitSignal }},
		{"-print-all-exitcodes", func(o *CommandLine) { o.Exit.PrintAll = true }},
		{"-report r.json", func(o *CommandLine) { o.Exit.Report = "r.json" }},
		{"-silent-abort", func(o *CommandLine) { o.Exit.Silent = true }},
		{"-disable-auto-cleanup", func(o *CommandLine) { o.Exit.KeepRunning = true }},
		{"-gdb 0,2", func(o *CommandLine) {
			o.Stdio.Stdin = ranks(0, 0, 2, 2)
			o.Tools = []plan.Tool{{Option: "gdb", Command: []string{"gdb", "-q", "--args"}, Ranks: o.Stdio.Stdin}}
		}},
		{"-gdb 0 -stdin none", func(o *CommandLine) {
			o.Stdio.Stdin = plan.Ranks{}
			o.Tools = []plan.Tool{{Option: "gdb", Command: []string{"gdb", "-q", "--args"}, Ranks: ranks(0, 0)}}
		}},
		{"-gtool strace:0,2-3", func(o *CommandLine) {
			o.Tools = []plan.Tool{{Option: "gtool", Command: []string{"strace"}, Ranks: ranks(0, 0, 2, 3)}}
		}},
		{"-gtool a:b:all", func(o *CommandLine) {
			o.Tools = []plan.Tool{{Option: "gtool", Command: []string{"a:b"}, Ranks: plan.AllRanks()}}
		}},
		{"-bind-to core:2|-binding core:2", func(o *CommandLine) { o.Hardware.Bind = plan.Binding{Object: "core", Count: 2} }},
		{"-map-by core", func(o *CommandLine) { o.Hardware.MapBy = plan.Binding{Object: "core", Count: 1} }},
		{"-membind bind:0-1,3", func(o *CommandLine) {
			o.Hardware.MemBind = plan.MemBinding{Policy: "bind", Nodes: topology.Set{0, 1, 3}}
		}},
		{"-profile", func(o *CommandLine) { o.Profile = plan.ProfileFile }},
		{"-profile=a/b|-profile=a/b.json|-profile=a/b.html", func(o *CommandLine) { o.Profile = "a/b" }},
		{"-report-bindings", func(o *CommandLine) { o.Hardware.Report = true }},
		{"-gpus-per-proc AUTO|-g auto", func(o *CommandLine) { o.Hardware.GPUs = "auto" }},
		{"-gpu-subdevs-per-proc auto", func(*CommandLine) {}},
		{"-nics near", func(o *CommandLine) { o.Hardware.NICs = "near" }},
		{"-launcher SSH|-bootstrap ssh", func(o *CommandLine) { o.Launch.Launcher = "ssh" }},
		{"-launcher-exec /k|-bootstrap-exec /k", func(o *CommandLine) { o.Launch.Exec = "/k" }},
		{"-launcher-extra-args=-p|-bootstrap-exec-extra-args -p", func(o *CommandLine) { o.Launch.ExtraArgs = []string{"-p"} }},
		{"-fanout 8", func(o *CommandLine) { o.Launch.Fanout = 8 }},
		{"-hybrid-hosts", func(o *CommandLine) { o.Launch.Hybrid = true }},
		{"-enable-x", func(o *CommandLine) { o.Launch.X = "enable" }},
		{"-disable-x", func(o *CommandLine) { o.Launch.X = "disable" }},
		{"-pmi Auto", func(*CommandLine) {}},
		{"-pmi X", func(o *CommandLine) { o.PMI.Version = "x" }},
		{"-pmi 2", func(o *CommandLine) { o.PMI.Version = "2" }},
		{"-pmi-port", func(o *CommandLine) { o.PMI.Port = true }},
		{"-pmi-trace", func(o *CommandLine) { o.PMI.Trace = true }},
		{"-usize system", func(o *CommandLine) { o.PMI.Universe = "SYSTEM" }},
		{"-usize 12", func(o *CommandLine) { o.PMI.Universe = "12" }},
		{"-memory-alloc-kinds mpi,system", func(o *CommandLine) { o.PMI.AllocKinds = "mpi,system" }},
		{"-v|-verbose|-debug", func(o *CommandLine) { o.Verbose, o.Exit.Banner = true, plan.BannerHydra }},
		{"-v -banner line", func(o *CommandLine) { o.Verbose, o.Exit.Banner = true, plan.BannerLine }},
		{"-banner HYDRA", func(o *CommandLine) { o.Exit.Banner = plan.BannerHydra }},
	} {
		for line := range strings.SplitSeq(tt.lines, "|") {
			want := parse(t, "a")
			tt.want(&want)
			assert.Equal(t, want, parse(t, line+" a"), line)
			name, _, _ := strings.Cut(strings.TrimLeft(strings.Fields(line)[0], "-"), "=")
			tested[name] = true
		}
	}
	for _, opt := range allOptions() {
		for _, name := range opt.names {
			assert.True(t, tested[name] || opt.typed || name == "file" || name == "pmi_args", name)
		}
	}
}

// Each name of Hydra's variables, as that of the option.
func TestEveryVariable(t *testing.T) {
	for variable, line := range map[string]string{
		"HYDRA_HOST_FILE=x":                        "-f x",
		"I_MPI_HYDRA_HOST_FILE=x":                  "-f x",
		"I_MPI_HYDRA_HOSTS_GROUP=a[1-2]":           "-hosts a[1-2]",
		"I_MPI_PERHOST=3":                          "-ppn 3",
		"HYDRA_RMK=pbs":                            "-rmk pbs",
		"HYDRA_IFACE=eth0":                         "-iface eth0",
		"HYDRA_HOSTNAME_PROPAGATION=off":           "-disable-hostname-propagation",
		"HYDRA_HOSTNAME_PROPAGATION=1":             "-enable-hostname-propagation",
		"HYDRA_ENV=none":                           "-genvnone",
		"HYDRA_ENV=all":                            "-genvall",
		"HYDRA_LAUNCHER=rsh":                       "-launcher rsh",
		"HYDRA_BOOTSTRAP=fork":                     "-launcher fork",
		"HYDRA_LAUNCHER_EXEC=/k":                   "-launcher-exec /k",
		"HYDRA_BOOTSTRAP_EXEC=/k":                  "-launcher-exec /k",
		"HYDRA_LAUNCHER_EXTRA_ARGS=-v":             "-launcher-extra-args=-v",
		"HYDRA_LAUNCH_EXTRA_ARGS=-v":               "-launcher-extra-args=-v",
		"I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS=-v": "-launcher-extra-args=-v",
		"HYDRA_BINDING=core":                       "-bind-to core",
		"HYDRA_MAPPING=core":                       "-map-by core",
		"HYDRA_MEMBIND=bind:0":                     "-membind bind:0",
		"HYDRA_TOPO_DEBUG=yes":                     "-report-bindings",
		"HYDRA_DEBUG=TRUE":                         "-verbose",
		"HYDRA_DEBUG=0":                            "",
		"TPSL_BANNER=hydra":                        "-banner hydra",
		"MPIEXEC_TIMEOUT=3":                        "-timeout 3",
		"I_MPI_JOB_TIMEOUT=3":                      "-timeout 3",
	} {
		assert.Equal(t, parse(t, line+" a"), parseIn(t, "a", variable), variable)
	}
	assert.Equal(t, "20:30", parseIn(t, "a", "MPICH_PORT_RANGE=20,30", "MPIEXEC_PORT_RANGE=1:2").PMI.PortRange, "the first of Hydra's order")
	assert.False(t, parseIn(t, "a", "HYDRA_LAUNCHER_AUTOFORK=no").Launch.AutoFork)
	assert.Equal(t, []string{"-o", "A b"}, parseIn(t, "a", `HYDRA_LAUNCH_EXTRA_ARGS=-o 'A b'`).Launch.ExtraArgs)

	// The command line wins over the environment, and Hydra's variable wins over Intel's.
	assert.Equal(t, time.Second, parseIn(t, "-timeout 1 a", "MPIEXEC_TIMEOUT=3").Timeout)
	assert.Equal(t, parse(t, "-hosts b a"), parseIn(t, "-hosts b a", "HYDRA_HOST_FILE=x"))
	assert.Equal(t, parse(t, "-genvall a"), parseIn(t, "-genvall a", "HYDRA_ENV=none"))
	assert.Equal(t, parse(t, "-f x a"), parseIn(t, "a", "HYDRA_HOST_FILE=x", "I_MPI_HYDRA_HOST_FILE=y", "I_MPI_HYDRA_HOSTS_GROUP=z"))
}

func TestBadVariables(t *testing.T) {
	for variable, want := range map[string]string{
		"MPIEXEC_TIMEOUT=soon":            `MPIEXEC_TIMEOUT=soon: option -timeout: "soon" is not a number of seconds above 0 and below 3153600000`,
		"HYDRA_DEBUG=2":                   "HYDRA_DEBUG=2: it is not one of 0, 1, false, no, off, on, true, yes",
		"HYDRA_ENV=some":                  "HYDRA_ENV=some: it is not one of all, none",
		"HYDRA_LAUNCHER=persist":          "HYDRA_LAUNCHER=persist: option -launcher:",
		"HYDRA_LAUNCH_EXTRA_ARGS='":       "HYDRA_LAUNCH_EXTRA_ARGS=': option -launcher-extra-args: a quote is not closed",
		"MPIEXEC_PORT_RANGE=9":            "MPIEXEC_PORT_RANGE=9: it is not LOW:HIGH",
		"MPIEXEC_PORT_RANGE=9:70000":      "MPIEXEC_PORT_RANGE=9:70000: it is not LOW:HIGH",
		"HYDRA_LAUNCHER_AUTOFORK=perhaps": "HYDRA_LAUNCHER_AUTOFORK=perhaps:",
		"TPSL_BANNER=short":               `TPSL_BANNER=short: option -banner: "short" is not one of line, hydra`,
		"I_MPI_PERHOST=allcores":          "I_MPI_PERHOST=allcores: option -ppn:",
	} {
		_, err := Parse([]string{"a"}, inEnv(variable))
		assert.ErrorContains(t, err, want)
	}
}

func inEnv(settings ...string) func(string) string {
	return func(name string) string {
		value, _ := plan.Getenv(settings, name)
		return value
	}
}

func parseIn(t *testing.T, line string, settings ...string) CommandLine {
	t.Helper()
	opts, err := Parse(strings.Fields(line), inEnv(settings...))
	require.NoError(t, err, line)
	return opts
}

// A later segment may have hosts of its own. The first list applies to all other segments, as in Hydra.
func TestHostsOfSegments(t *testing.T) {
	opts := parse(t, "-n 1 a : -host x b : c : -hosts y d")
	assert.Equal(t, "x", opts.Hosts.List)
	var own []string
	for _, segment := range opts.Segments {
		own = append(own, segment.Hosts)
	}
	assert.Equal(t, []string{"", "", "", "y"}, own)
	_, err := Parse(strings.Fields("-host x a : -host y -host z b"), noEnv)
	assert.ErrorContains(t, err, "duplicate setting: -hosts y and -hosts z")
}

func TestRanksByObjectAreBound(t *testing.T) {
	core := plan.Binding{Object: "core", Count: 1}
	assert.Equal(t, core, parse(t, "-rpp numa a").Hardware.Bind)
	assert.Equal(t, plan.Binding{Object: "hwthread", Count: 1}, parse(t, "-rpp numa -bind-to hwthread a").Hardware.Bind)
	assert.Zero(t, parse(t, "-rpp node a").Hardware.Bind)
}

// -pmi_args comes from a program that is running, so no other program may be given.
func TestSingleton(t *testing.T) {
	opts := parse(t, "-pmi_args 99 i k 7")
	assert.Equal(t, []string{"99", "i", "k", "7"}, opts.PMI.Singleton)
	assert.Equal(t, []plan.Segment{{Ranks: 1, PerProcess: 1, Mode: plan.ModeAuto, Args: []string{"process 7"}}}, opts.Segments)
	_, err := Parse(strings.Fields("-pmi_args 99 i k 7 prog"), noEnv)
	assert.EqualError(t, err, "option -pmi_args: leave out prog; the program runs already")
}
