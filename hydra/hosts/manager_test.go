// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// environment returns a Getenv of settings that semicolons separate. A value that begins with @ is the text of a file, in which |
// stands for the end of a line. The variable then has the path of that file.
func environment(t *testing.T, settings string) Getenv {
	t.Helper()
	env := map[string]string{}
	for setting := range strings.SplitSeq(settings, ";") {
		name, value, _ := strings.Cut(setting, "=")
		if text, isFile := strings.CutPrefix(value, "@"); isFile {
			value = filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(value, []byte(strings.ReplaceAll(text, "|", "\n")), 0o600))
		}
		env[name] = value
	}
	return func(name string) string { return env[name] }
}

func TestManagers(t *testing.T) {
	for _, tt := range []struct{ settings, manager, want string }{
		{"SLURM_JOB_NODELIST=n[01-02,7],m;SLURM_TASKS_PER_NODE=4(x2),3,1", "slurm slurm", "n01:4 n02:4 n7:3 m:1"},
		{"SLURM_NODELIST=a;SLURM_TASKS_PER_NODE=2", "slurm slurm", "a:2"},
		{"SLURM_JOB_NODELIST=a;SLURM_NODELIST=b", "slurm slurm", "a:1"},
		{"SLURM_JOB_NODELIST=a[1-3];SLURM_NTASKS_PER_NODE=5", "slurm slurm", "a1:5 a2:5 a3:5"},
		{"SLURM_JOB_NODELIST=a[1-2];SLURM_JOB_CPUS_PER_NODE=8(x2)", "slurm slurm", "a1:8 a2:8"},
		// In a step of one node, SLURM_TASKS_PER_NODE is about the step and not about the job.
		{"SLURM_JOB_NODELIST=a[1-2];SLURM_TASKS_PER_NODE=1;SLURM_JOB_CPUS_PER_NODE=8,4", "slurm slurm", "a1:8 a2:4"},
		{"PBS_NODEFILE=@a|a|b|a|", "pbs ssh", "a:3 b:1"},
		{"LOADL_HOSTFILE=@a|b|", "ll ll", "a:1 b:1"},
		{"COBALT_NODEFILE=@a|b", "cobalt ssh", "a:1 b:1"},
		{"PE_HOSTFILE=@a.site 4 all.q@a UNDEFINED|b.site 2 all.q@b <NULL>|", "sge sge", "a.site:4 b.site:2"},
		{"LSB_MCPU_HOSTS=a 4 b 2 a 1 ", "lsf lsf", "a:5 b:2"},
		{"LSB_DJOB_HOSTFILE=@a|a|b", "lsf lsf", "a:2 b:1"},
		{"SLURM_JOB_NODELIST=a;PBS_NODEFILE=@b", "slurm slurm", "a:1"}, // managers are tried in their order
	} {
		getenv := environment(t, tt.settings)
		m, err := Find("", getenv)
		require.NoError(t, err)
		assert.Equal(t, tt.manager, m.Name+" "+m.Launcher)
		list, err := m.Hosts(getenv)
		require.NoError(t, err, tt.settings)
		assert.Equal(t, tt.want, show(list), tt.settings)
		named, err := Find(m.Name, getenv)
		require.NoError(t, err)
		assert.Equal(t, m.Name, named.Name)
	}
	named, err := Find("pbs", environment(t, "SLURM_JOB_NODELIST=a;PBS_NODEFILE=x"))
	require.NoError(t, err)
	assert.Equal(t, "pbs", named.Name)
	none, err := Find("", environment(t, "SLURM_JOB_ID=1;HOME=/"))
	require.NoError(t, err)
	assert.Empty(t, none.Name)
}

func TestManagerErrors(t *testing.T) {
	for _, m := range managers {
		_, err := Find(m.Name, environment(t, "HOME=/"))
		assert.EqualError(t, err, strings.Join(m.variables, " or ")+" is not set: this is no job of "+m.Name)
	}
	_, err := Find("moab", environment(t, "SLURM_JOB_NODELIST=a"))
	assert.EqualError(t, err, `there is no resource manager "moab"`)

	for settings, want := range map[string]string{
		"SLURM_JOB_NODELIST=a[1-": `SLURM_JOB_NODELIST: "a[1-": [ without ]; expected NAME[:SLOTS] or ranges, as in n[01-03,7]:4; -hosts or -rmk user does without`,
		"SLURM_JOB_NODELIST=a[1-3];SLURM_TASKS_PER_NODE=4(x2);SLURM_JOB_CPUS_PER_NODE=8": "SLURM_JOB_NODELIST names 3 hosts, " +
			"SLURM_TASKS_PER_NODE=4(x2), SLURM_JOB_CPUS_PER_NODE=8 have another number",
		"SLURM_JOB_NODELIST=a;SLURM_TASKS_PER_NODE=4(x":           `SLURM_TASKS_PER_NODE: "4(x" is not a number, or NUMBER(xTIMES)`,
		"SLURM_JOB_NODELIST=a;SLURM_TASKS_PER_NODE=0":             `"0" is not a number`,
		"SLURM_JOB_NODELIST=a;SLURM_TASKS_PER_NODE=1(x999999999)": `"1(x999999999)" is not a number`,
		"PBS_NODEFILE=/nowhere":                                   "read the hosts of this pbs job: PBS_NODEFILE: open /nowhere: no such file or directory",
		"PBS_NODEFILE=@":                                          "names no host",
		"PBS_NODEFILE=@a|-x":                                      `file:2: host name "-x" begins with a dash`,
		"PE_HOSTFILE=@a":                                          `file:1: "a" is not a host and its slots`,
		"PE_HOSTFILE=@a x q":                                      `file:1: "x" is not a number of slots`,
		"LSB_MCPU_HOSTS=a 1 b":                                    "LSB_MCPU_HOSTS is not pairs of a host and its slots",
		"LSB_MCPU_HOSTS=a b":                                      `LSB_MCPU_HOSTS: "b" is not a number of slots`,
		"LSB_DJOB_HOSTFILE=/nowhere":                              "LSB_DJOB_HOSTFILE: open /nowhere",
	} {
		getenv := environment(t, settings)
		m, err := Find("", getenv)
		require.NoError(t, err)
		list, err := m.Hosts(getenv)
		assert.ErrorContains(t, err, want, settings)
		assert.Empty(t, list)
	}
}

// A command called flux stands for Flux, which is not installed here.
func TestFlux(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	script := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "flux"), []byte("#!/bin/sh\n"+text), 0o700))
	}
	const set = `{"version": 1, "execution": {"R_lite": [
		{"rank": "[0,2]", "children": {"core": "0-3", "gpu": "0"}}, {"rank": "1", "children": {"core": "0,5"}}],
		"nodelist": ["fluke[7-8]", "other"]}}`
	script("[ \"$*\" = 'resource R -s up' ] && cat <<'end'\n" + set + "\nend\n")
	getenv := environment(t, "FLUX_URI=local:///run/x")
	m, err := Find("", getenv)
	require.NoError(t, err)
	assert.Equal(t, "flux ssh", m.Name+" "+m.Launcher)
	list, err := m.Hosts(getenv)
	require.NoError(t, err)
	assert.Equal(t, "fluke7:4 fluke8:2 other:4", show(list))

	script("[ \"$*\" = 'job info f123 R' ] && cat <<'end'\n" + set + "\nend\n")
	list, err = m.Hosts(environment(t, "FLUX_URI=x;FLUX_JOB_ID=f123"))
	require.NoError(t, err)
	assert.Len(t, list, 3)

	script("echo flux-resource: no broker >&2; exit 1")
	_, err = m.Hosts(getenv)
	assert.ErrorContains(t, err, "flux resource R -s up: exit status 1 flux-resource: no broker")
	for _, text := range []string{"", "{}", `{"execution": {"nodelist": ["a", "b"], "R_lite": [{"rank": "0", "children": {"core": "0"}}]}}`,
		`{"execution": {"nodelist": ["a"], "R_lite": [{"rank": "x", "children": {"core": "0"}}]}}`,
		`{"execution": {"nodelist": ["a"], "R_lite": [{"rank": "0", "children": {}}]}}`} {
		list, err := parseFlux([]byte(text))
		assert.Error(t, err, text)
		assert.Nil(t, list)
	}
}

// Each text is either refused, or read as numbers of slots within the limits.
func FuzzParseCounts(f *testing.F) {
	f.Add("4(x2),3")
	f.Fuzz(func(t *testing.T, text string) {
		counts, err := parseCounts(text)
		if (err == nil) != (len(counts) > 0) || len(counts) > MaxHosts {
			t.Fatalf("%d counts, error %v", len(counts), err)
		}
		for _, n := range counts {
			if n < 1 || n > MaxSlots {
				t.Fatal(fmt.Sprint("bad count ", n))
			}
		}
	})
}
