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
)

func noEnv(string) string { return "" }

func parse(t *testing.T, line string) CommandLine {
	t.Helper()
	opts, err := Parse(strings.Fields(line), noEnv)
	require.NoError(t, err, line)
	return opts
}

func TestParseOptions(t *testing.T) {
	for _, tt := range []struct {
		line string
		want plan.Segment
	}{
		{"-n 4 a", plan.Segment{Ranks: 4}},
		{"--np=4 a", plan.Segment{Ranks: 4}},
		{"---NP 4 a", plan.Segment{Ranks: 4}},
		{"a", plan.Segment{}},
		{"-n 2 -n 2 a", plan.Segment{Ranks: 2}},
		{"-n 8 -rpp 4 a", plan.Segment{Ranks: 8, PerProcess: 4}},
		{"-n 8 -ranks-per-process=4 a", plan.Segment{Ranks: 8, PerProcess: 4}},
		{"-tpsl shared a", plan.Segment{Mode: plan.ModeShared}},
		{"-tpsl private a", plan.Segment{Mode: plan.ModePrivate}},
		{"-env A b -env C=d a", plan.Segment{Env: []string{"A=b", "C=d"}}},
		{"-env=A=b -wdir /tmp a", plan.Segment{Env: []string{"A=b"}, Wdir: "/tmp"}},
		{"-rpp NUMA a", plan.Segment{PerObject: "numa"}},
		{"-path /a:/b a", plan.Segment{Path: "/a:/b"}},
		{"-n 7 -soft 1,2:12:3 a", plan.Segment{Ranks: 5}},
		{"-soft 2:12:3,6 a", plan.Segment{Ranks: 11}},
		{"-n 8 -soft 8 a", plan.Segment{Ranks: 8}},
		{"-envnone a", plan.Segment{Inherit: []string{}}},
		{"-envlist A,B a", plan.Segment{Inherit: []string{"A", "B"}}},
		{"-genvnone -envall a", plan.Segment{}},
		{"-genvlist A a", plan.Segment{Inherit: []string{"A"}}},
		{"-genvnone a", plan.Segment{Inherit: []string{}}},
		{"-n 2 a -n 3 --help", plan.Segment{Ranks: 2, Args: []string{"a", "-n", "3", "--help"}}},
	} {
		if tt.want.PerProcess == 0 {
			tt.want.PerProcess = 1
		}
		if tt.want.Mode == "" {
			tt.want.Mode = plan.ModeAuto
		}
		if tt.want.Args == nil {
			tt.want.Args = []string{"a"}
		}
		assert.Equal(t, []plan.Segment{tt.want}, parse(t, tt.line).Segments, tt.line)
	}
}

func TestParseGlobalOptions(t *testing.T) {
	opts := parse(t, "-l -genv A=b -genv C d -genvlist X,Y -timeout 1.5 -bind-to core:2 -v a : -L -n 2 b")
	assert.Equal(t, []string{"A=b", "C=d"}, opts.Env)
	assert.Equal(t, []string{"X", "Y"}, opts.Segments[1].Inherit)
	assert.Equal(t, 1500*time.Millisecond, opts.Timeout)
	assert.Equal(t, plan.Binding{Object: "core", Count: 2}, opts.Hardware.Bind)
	assert.Equal(t, plan.LabelPattern, opts.Stdio.Label)
	assert.True(t, opts.Verbose)
	assert.Len(t, opts.Segments, 2)
	assert.Equal(t, []string{"b"}, opts.Segments[1].Args)
}

// Every error is one line that names the option.
func TestParseErrors(t *testing.T) {
	for line, want := range map[string]string{
		"":                            "no program given",
		"-n 2":                        "no program given",
		"-n 2 : a":                    "no program given",
		"a :":                         "no program given",
		"-n":                          "option -n needs a value: N",
		"-n x a":                      `option -n: "x" is not a number of ranks`,
		"-n -2 a":                     `option -n: "-2" is not`,
		"-n 0 a":                      `option -n: "0" is not a number of ranks from 1 to 1048576`,
		"-np -1 a":                    `option -n: "-1" is not a number of ranks from 1 to`,
		"-n=0 a":                      `option -n: "0" is not`,
		"-n 1 a : -n 0 b":             `option -n: "0" is not`,
		"-n 1 a : -np -1 b":           `option -n: "-1" is not`,
		"-n 1 a : -rpp 0 b":           `option -rpp: "0" is not a number from 1 to 1048576, node, numa, socket or core`,
		"-n 99999999 a":               `option -n: "99999999" is not`,
		"-n 2 -n 3 a":                 "duplicate setting: -n 2 and -n 3",
		"-np 2 -n 3 a":                "duplicate setting",
		"-timeout 1 a : -timeout 2 b": "duplicate setting: -timeout",
		"-rpp 0 a":                    `option -rpp: "0" is not a number from 1 to 1048576, node, numa, socket or core`,
		"-rpp l2 a":                   `option -rpp: "l2" is not a number from 1 to 1048576, node,`,
		"-tpsl x a":                   "option -tpsl:",
		"-bind-to user a":             "option -bind-to:",
		"-bind-to user:1+x a":         `option -bind-to: "1+" is not CPU numbers`,
		"-bind-to core:0 a":           "option -bind-to:",
		"-bind-to none:1 a":           "option -bind-to:",
		"-timeout -1 a":               "option -timeout:",
		"-timeout nan a":              "option -timeout:",
		"-l=yes a":                    "option -l takes no value",
		"-genv A":                     "option -genv needs a value",
		"-env =b a":                   "option -env: variable without a name",
		"-rppp 2 a":                   "unknown option -rppp; did you mean -rpp?",
		"--tmeout 2 a":                "unknown option --tmeout; did you mean -timeout?",
		"-quite-unlike a":             "unknown option -quite-unlike; try mpiexec -h",
		"-genvall -genvnone a":        "duplicate setting: -genvall and -genvnone",
		"-envlist A -envnone a":       "duplicate setting: -envlist A and -envnone",
		"-hosts a -f b a":             "duplicate setting: -hosts a and -f b",
		"-hosts a -host b a":          "duplicate setting: -hosts a and -hosts b",
		"-rr -ppn 2 a":                "duplicate setting: -rr and -ppn 2",
		"-enable-x -disable-x a":      "duplicate setting: -enable-x and -disable-x",
		"-l -prepend-pattern x a":     "duplicate setting: -l and -prepend-pattern x",
		"-stdin 1- a":                 `option -stdin: "1-" is not all, none or a list of ranks`,
		"-output-from 3-1 a":          `option -output-from: "3-1" is not all,`,
		"-launcher persist a":         `option -launcher: "persist" is not one of ssh, rsh,`,
		"-usize 0 a":                  `option -usize: "0" is not SYSTEM, INFINITE or`,
		"-pmi_args 1 2 3":             "option -pmi_args needs a value: PORT IFACE KEY PID",
		"-pmi flux a":                 "option -pmi: mpiexec does not serve PMI flux; leave -pmi out, and run programs of MPICH or Open MPI",
		"-pmi 3 a":                    `option -pmi: "3" is not one of auto, 1, 2, x`,
		"-pmi_args x a b c a":         `option -pmi_args: "x" is not a port`,
		"-soft 4:6 -n 3 a":            "option -soft: no number of the list is from 1 to 3",
		"-soft 1:2:0 a":               `option -soft: "1:2:0" is not a number from 0 to 1048576 or a range FIRST:LAST:STEP`,
		"-gtool gdb a":                `option -gtool: "gdb" is not COMMAND:RANKS`,
		"-wdir= a":                    "option -wdir: its value is empty",
		"-iface e -enable-hostname-propagation a": "-iface e and -enable-hostname-propagation exclude each other",
		"- a":               "unknown option -",
		"-n abc a":          `option -n: "abc" is not a number of ranks from 1 to 1048576`,
		"-n 1048577 a":      `option -n: "1048577" is not a number of ranks from 1 to 1048576`,
		"-ppn none a":       `option -ppn: "none" is not a number from 1 to 1048576`,
		"-gpus-per-proc -1": `option -gpus-per-proc: "-1" is not auto or a number from 0 to 1048576`,
		"-timeout soon a":   `option -timeout: "soon" is not a number of seconds above 0 and below 3153600000`,
		"-bind-to core:x a": `option -bind-to: "x" is not a number of objects, 1 or more`,
	} {
		_, err := Parse(strings.Fields(line), noEnv)
		if assert.ErrorContains(t, err, want, line) {
			assert.NotContains(t, err.Error(), "\n")
		}
	}
}

func TestHelp(t *testing.T) {
	usage := Usage(parse(t, "--HELP all"))
	for group, opt := range allOptions() {
		for _, name := range opt.names {
			assert.Contains(t, usage, "-"+name)
			topic := parse(t, "-"+name+" -h")
			require.NotNil(t, topic.topic, name)
			assert.Contains(t, Usage(topic), opt.short)
			assert.Equal(t, strings.HasPrefix(group.title, "Accepted and without"), strings.Contains(Usage(topic), "without effect here"), name)
		}
	}
	assert.Equal(t, ActionVersion, parse(t, "-info").Action)
	for _, text := range []string{"HYDRA build details:", "    Version:       ", "    Process Manager:                         pmi",
		"    Launchers available:                     ssh rsh fork slurm lsf sge pbs ll manual\n",
		"    Resource management kernels available:   user slurm ll lsf sge pbs cobalt flux\n"} {
		assert.Contains(t, BuildDetails(), text)
	}
}

// Every line is either parsed or refused with a message of one line. Nothing panics. A line that is parsed has a program in each
// segment.
func FuzzParseOptions(f *testing.F) {
	f.Add("-n 4 -rpp 2 a : -env A b c")
	f.Add("-bind-to user:0+1,2 -timeout 1e300 -genv=A a")
	f.Add("-soft 1:9:2,4 -gtool a:0;b:all -pmi_args 1 2 3 4 -hosts x a : -hosts y b")
	f.Add("-\n -env A\n -env A")
	f.Add("-stdin 1-3 -prepend-pattern %r -exit-code max -launcher-extra-args 'x -rankmap 0,1 a")
	f.Fuzz(func(t *testing.T, line string) {
		if !strings.Contains(strings.ToLower(line), "file") { // this test does not cover files
			checkParsed(t, strings.Split(line, " "))
		}
	})
}

func checkParsed(t *testing.T, args []string) {
	opts, err := Parse(args, noEnv)
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Fatalf("not one line: %q", err)
		}
		return
	}
	if opts.Action != ActionRun {
		return
	}
	for _, segment := range opts.Segments {
		if len(segment.Args) == 0 || segment.Ranks < 0 || segment.PerProcess < 1 {
			t.Fatalf("bad segment %+v", segment)
		}
	}
	if len(opts.Segments) == 0 {
		t.Fatal("no segment")
	}
}

// Who types an option of Open MPI is told what to type here, or it is simply understood.
func TestOpenMPIOptions(t *testing.T) {
	for line, here := range map[string]string{
		"--mca btl self,tcp a":        "--mca is an option of Open MPI; here: -genv OMPI_MCA_btl self,tcp",
		"-mca":                        "-mca is an option of Open MPI; here: -genv OMPI_MCA_NAME VALUE",
		"-x A=b a":                    "-x is an option of Open MPI; here: -genv A=b",
		"-n 2 -x LD_LIBRARY_PATH a":   "-x is an option of Open MPI; here: leave it out, as ranks get all variables; -genvlist passes on only some",
		"--tag-output a":              "--tag-output is an option of Open MPI; here: -l",
		"--npernode 4 a":              "--npernode is an option of Open MPI; here: -ppn 4",
		"--npernode=4 a":              "--npernode=4 is an option of Open MPI; here: -ppn 4",
		"--output-filename log a":     "--output-filename is an option of Open MPI; here: -outfile-pattern log.%r",
		"--map-by slot a":             "option -map-by: slot is a value of Open MPI; here: leave it out, as ranks fill the slots of a host in any case",
		"--map-by node a":             "option -map-by: node is a value of Open MPI; here: -rr",
		"--map-by ppr:4:node a":       "option -map-by: ppr:4:node is a value of Open MPI; here: -ppn 4",
		"--map-by ppr:4:socket a":     "option -map-by: ppr:4:socket is a value of Open MPI; here: -ppn N for the ranks of a host, -bind-to for their CPUs",
		"--map-by socket:PE=4 a":      "option -map-by: socket:PE=4 is a value of Open MPI; here: -bind-to core:4 -map-by socket",
		"--map-by numa:oversubscribe": "option -map-by: numa:oversubscribe is a value of Open MPI; here: -map-by numa",
	} {
		_, err := Parse(strings.Fields(line), noEnv)
		assert.EqualError(t, err, here, line)
	}
	for line, same := range map[string]string{
		"--oversubscribe --allow-run-as-root -np 4 a": "-n 4 a",
		"-H x:2,y a": "-hosts x:2,y a",
		"--hostfile x --bind-to core --report-bindings a":      "-f x -bind-to core -report-bindings a",
		"-np 4 --host x,y --map-by socket --bind-to package a": "-n 4 -hosts x,y -map-by socket -bind-to socket a",
	} {
		assert.Equal(t, parse(t, same), parse(t, line), line)
	}
	assert.Equal(t, ActionHelp, parse(t, "-H").Action)
}

// What is recommended can be typed.
func TestOpenMPITranslations(t *testing.T) {
	for _, option := range openMPIOptions() {
		for _, word := range strings.Fields(option.here("1", "2")) {
			if strings.HasPrefix(word, "-") {
				opt, _ := findOption(strings.Trim(word, "-;:,"))
				assert.NotNil(t, opt, "%v: %s", option.names, word)
			}
		}
		for _, name := range option.names {
			opt, _ := findOption(name)
			assert.Nil(t, opt, "%s is an option of ours", name)
		}
	}
}

// -h fits a terminal; -h all its width.
func TestHelpFits(t *testing.T) {
	short, full := Usage(parse(t, "-h")), Usage(parse(t, "-help ALL"))
	assert.LessOrEqual(t, strings.Count(short, "\n"), 25, short)
	assert.Greater(t, strings.Count(full, "\n"), 100)
	for line := range strings.Lines(short + full) {
		assert.LessOrEqual(t, len(line), 80+len("\n"), line)
	}
	for _, basic := range basics {
		assert.Contains(t, short, "\n  "+basic+"  ")
	}
	assert.Contains(t, short, "\nmpiexec -h all lists all options, ")
	assert.Equal(t, short, Usage(parse(t, "-h prog")))
	for line, topic := range map[string]string{"-n -h all": "n", "-h -h": "h"} {
		assert.Equal(t, topic, parse(t, line).topic.names[0], line)
	}
}
