// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/plan"
)

// file writes a file and returns its name.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "conf")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestConfigFile(t *testing.T) {
	for _, tt := range []struct{ name, line, text, want string }{
		{"programs", "", "-n 1 a x\n\n# comment\n -n 2 b y # end\n", "-n 1 a x : -n 2 b y"},
		{"colons", "", "-n 1 a : -n 2 b :\n c", "-n 1 a : -n 2 b : c"},
		{"continued", "", "-n \\\n  3 \\\n-env A \\\n1 a\\\nb\n", "-n 3 -env A 1 ab"},
		{"a comment does not go on", "", "# a \\\n-n 2 a", "-n 2 a"},
		{"DOS", "", "-n 2 a b\r\n-n 1 c\r\n", "-n 2 a b : -n 1 c"},
		{"no newline at the end", "", "a", "a"},
		{"general", "-n 2 a", "-l\n-genv A 5\n-timeout 3", "-l -genv A 5 -timeout 3 -n 2 a"},
		{"general for each program", "", "-n 2 -env A 1\n-wdir /x\na\n-n 3 -env A 2 b", "-n 2 -env A 1 -wdir /x a : -n 3 -env A 2 -wdir /x b"},
		{"general after the programs", "", "a\nb\n-n 4", "-n 4 a : -n 4 b"},
		{"the command line wins", "-genv A 9 -hosts h -n 3 a", "-genv A 1 -genv B 2\n-f file -l\n-n 4 -env C 1", "-genv A 9 -genv B 2 -l -hosts h -n 3 -env C 1 a"},
		{"flags that exclude each other", "-genvall -disable-auto-cleanup a", "-genvnone\n-enable-auto-cleanup", "-genvall -disable-auto-cleanup a"},
		{"options of the command line", "-n 2 -env A 7 -wdir /y", "-n 3 -env A 8 -env B 2 a\nb", "-n 2 -env B 2 -env A 7 -wdir /y a : -n 2 -env A 7 -wdir /y b"},
		{"more programs than the command line's", "-n 1 a : -n 5", "b\nc", "-n 1 a : -n 5 b : -n 5 c"},
		{"-soft", "-soft 1:7:3", "-n 6 a\n-n 2 b", "-n 4 a : -n 1 b"},
		{"hosts of a program", "", "-n 1 -host x a\n-n 1 -host y b", "-n 1 -host x a : -n 1 -host y b"},
		{"empty", "a", "", "a"},
	} {
		got := parse(t, "-configfile "+file(t, tt.text)+" "+tt.line)
		assert.Equal(t, sorted(parse(t, tt.want)), sorted(got), tt.name)
	}
	opts := parse(t, "-configfile "+file(t, `-env A "x y" -n 2 './my prog' "say \"hi\"" a\ b '' #x`))
	assert.Equal(t, []plan.Segment{{Ranks: 2, PerProcess: 1, Mode: plan.ModeAuto, Env: []string{"A=x y"}, Args: []string{"./my prog", `say "hi"`, "a b", ""}}}, opts.Segments)
}

// sorted puts variables into a canonical order. Of several variables with one name only the last counts.
func sorted(opts CommandLine) CommandLine {
	for i := range opts.Segments {
		opts.Segments[i].Env = plan.SetEnv(nil, opts.Segments[i].Env...)
		slices.Sort(opts.Segments[i].Env)
		if len(opts.Segments[i].Env) == 0 {
			opts.Segments[i].Env = nil
		}
	}
	return opts
}

// Only the first file that is named or exists is read.
func TestConfigFileIsFound(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.WriteFile(home+"/.mpiexec.hydra.conf", []byte("-genv WHO home"), 0o600))
	named, asked := file(t, "-genv WHO variable"), file(t, "-genv WHO option")
	for _, tt := range []struct {
		want, line  string
		environment []string
	}{
		{"option", "-configfile " + asked + " a", []string{"HYDRA_CONFIG_FILE=" + named, "HOME=" + home}},
		{"variable", "a", []string{"HYDRA_CONFIG_FILE=" + named, "HOME=" + home}},
		{"home", "a", []string{"HOME=" + home}},
	} {
		assert.Equal(t, []string{"WHO=" + tt.want}, parseIn(t, tt.line, tt.environment...).Env)
	}
	assert.Empty(t, parseIn(t, "a", "HOME="+t.TempDir()).Env)

	system := systemConfig()
	require.True(t, strings.HasSuffix(system, "/etc/mpiexec.hydra.conf"), system)
	require.NoError(t, os.MkdirAll(filepath.Dir(system), 0o755))
	require.NoError(t, os.WriteFile(system, []byte("-genv WHO system"), 0o600))
	defer os.Remove(system)
	assert.Equal(t, []string{"WHO=system"}, parseIn(t, "a", "HOME="+t.TempDir()).Env)
	assert.Equal(t, []string{"WHO=home"}, parseIn(t, "a", "HOME="+home).Env)
}

func TestConfigFileWinsOverEnvironment(t *testing.T) {
	opts := parseIn(t, "a", "HYDRA_CONFIG_FILE="+file(t, "-timeout 2\n-genvall"), "MPIEXEC_TIMEOUT=3", "HYDRA_ENV=none", "HYDRA_RMK=pbs")
	assert.Equal(t, parse(t, "-timeout 2 -rmk pbs a"), opts)
}

// Every error is one line of text, and names the file and its line.
func TestBadConfigFiles(t *testing.T) {
	for text, want := range map[string]string{
		"-n 1 a\n\n-n x b":           `conf:3: option -n: "x" is not a number`,
		"-l \\\n-lx a":               "conf:1: unknown option -lx; did you mean -",
		"a 'b":                       "conf:1: a quote is not closed",
		"a\n\nb \\":                  "conf:3: a backslash stands at the end of the file",
		"-n 1":                       "no program given",
		"# nothing":                  "no program given",
		": a":                        "conf:1: no program given",
		"-n 1 a\n-env":               "conf:2: option -env needs a value",
		"-timeout 1 a\n-timeout 2 b": "conf:2: duplicate setting: -timeout 1 and -timeout 2",
		"-n 1\n-n 2\na":              "conf:2: duplicate setting: -n 1 and -n 2",
		"-hosts a b\n-hosts c":       "conf:2: duplicate setting: -hosts a and -hosts c",
		"-n 1 a\n-n 0 b":             `conf:2: option -n: "0" is not a number of ranks`,
		"-n -1\na":                   `conf:1: option -n: "-1" is not a number of ranks`,
		"-n 2 -rpp 0 a":              `conf:1: option -rpp: "0" is not a number from 1 to 1048576`,
		"-h":                         "conf:1: option -h: it has no place in a file",
		"-hosts -h":                  "conf:1: option -hosts: it has no place in a file",
		"-info a":                    "conf:1: option -version: it has no place in a file",
		"-configfile x a":            "conf:1: option -configfile: it has no place in a file",
		"-soft 5 -n 2 a":             "option -soft: no number of the list is from 1 to 2",
	} {
		_, err := Parse([]string{"-configfile", file(t, text)}, noEnv)
		if assert.ErrorContains(t, err, want, text) {
			assert.NotContains(t, err.Error(), "\n")
		}
	}
	conf := file(t, "-l\n-n 3 b")
	for line, want := range map[string]string{
		"-configfile " + conf + " a":                "conf:2: a program stands here and on the command line; leave one out",
		"-configfile /nonexistent a":                "option -configfile: open /nonexistent: no such file or directory",
		"-configfile / a":                           "option -configfile: read /: is a directory",
		"-configfile /dev/zero a":                   "option -configfile: /dev/zero: too long for a configuration file",
		"-file /dev/zero a":                         "option -file: /dev/zero: too long for a configuration file",
		"-configfile " + conf + " -configfile /x a": "duplicate setting: -configfile",
	} {
		_, err := Parse(strings.Fields(line), noEnv)
		assert.ErrorContains(t, err, want, line)
	}
	_, err := Parse([]string{"a"}, inEnv("HYDRA_CONFIG_FILE=/nonexistent"))
	assert.ErrorContains(t, err, "HYDRA_CONFIG_FILE: open /nonexistent:")
}

func TestOptionsFromFile(t *testing.T) {
	name := file(t, "# for a\n-n 2 -env A 1\n-l -wdir '/a b'")
	want := parse(t, "-n 2 -env A=1 -wdir x -l a : b")
	want.Segments[0].Wdir = "/a b"
	assert.Equal(t, want, parse(t, "-file "+name+" a : b"))
	assert.Equal(t, want.Segments[0], parse(t, "-configfile "+file(t, "-file "+name+" a")).Segments[0])
	for text, want := range map[string]string{
		"-l\n-n x": `conf:2: option -n: "x" is not`,
		"-n 0":     `conf:1: option -n: "0" is not`,
		"-n 1 a":   `conf:1: "a" is not an option`,
		"-file x":  "conf:1: option -file: it has no place in a file",
		"-version": "conf:1: option -version: it has no place in a file",
		"-l 'x":    "conf:1: a quote is not closed",
	} {
		_, err := Parse([]string{"-file", file(t, text), "a"}, noEnv)
		assert.ErrorContains(t, err, want, text)
	}
}

// Every file is either read or refused with a message of one line. Nothing panics.
func FuzzConfigFile(f *testing.F) {
	f.Add("-n 1 a \\\n b # c\n-l\n\n'x y' : \"z\\\"\"\r\n")
	f.Add("-env A 1 -soft 1:9:2\n-genv=A\n-hosts x\na\n-hosts y b")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "file") {
			return // this test does not cover other files
		}
		name := filepath.Join(t.TempDir(), "conf")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		checkParsed(t, []string{"-n", "2", "-configfile", name})
	})
}
