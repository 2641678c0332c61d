// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/profile"
)

// profileFile writes the profile of a rank that computes for half of its time.
func profileFile(t *testing.T, command string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "p.json"))
	require.NoError(t, err)
	defer file.Close()
	p := profile.Profile{Format: profile.Format, Job: profile.Job{Command: command}, Hosts: []profile.Host{{Name: "n1"}}, Ranks: []profile.Rank{{Counted: true, Ended: true, Elapsed: 10, MPI: 5}}}
	require.NoError(t, p.Write(file))
	return file.Name()
}

func TestReport(t *testing.T) {
	a, b := profileFile(t, "./first"), profileFile(t, "./second")
	stdout, stderr, code := said("report", a)
	assert.Empty(t, stderr)
	assert.Zero(t, code)
	assert.True(t, strings.HasPrefix(stdout, "Profile of ./first\n"), stdout)

	stdout, stderr, code = said("report", a, b)
	assert.Empty(t, stderr)
	assert.Zero(t, code)
	assert.Contains(t, stdout, "command: ./first, then ./second\n")

	for _, args := range [][]string{{"report", "-html", "PAGE", a}, {"report", a, "-html=PAGE"}, {"report", "-html", "PAGE", "--", a}} {
		page := filepath.Join(t.TempDir(), "page.html")
		for i := range args {
			args[i] = strings.Replace(args[i], "PAGE", page, 1)
		}
		stdout, stderr, code = said(args...)
		assert.Empty(t, stdout+stderr)
		assert.Zero(t, code)
		html, err := os.ReadFile(page)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(html), "<!DOCTYPE html>"))
		assert.Contains(t, string(html), "<title>Profile of ./first</title>")
	}
}

func TestReportErrors(t *testing.T) {
	a := profileFile(t, "./first")
	other := filepath.Join(t.TempDir(), "other.json")
	require.NoError(t, os.WriteFile(other, []byte(`{"format":7}`), 0o600))
	nowhere := filepath.Join(t.TempDir(), "no", "page.html")
	for want, args := range map[string][]string{
		"no profile given; want the file that mpiexec -profile wrote": {},
		"3 profiles given; want one, or two to compare":               {a, a, a},
		"-html: no file named":                                        {"-html", "", a},
		"-html writes the page of one profile, and two are given":     {"-html", nowhere, a, a},
		"-html " + a + ": that is the profile itself":                 {"-html", a, a},
		"open " + nowhere + ": no such file or directory":             {"-html", nowhere, a},
		"open nothing.json: no such file or directory":                {"nothing.json"},
		other + ": format 7, and this tpsl reads format 1":            {a, other},
		"unknown option -htlm (did you mean -html?)":                  {"-htlm", "x", a},
		"write /dev/full: no space left on device":                    {"-html", "/dev/full", a},
		"read " + filepath.Dir(other) + ": is a directory":            {filepath.Dir(other)},
		"open -html: no such file or directory":                       {"--", "-html"},
	} {
		stdout, stderr, code := said(append([]string{"report"}, args...)...)
		assert.Empty(t, stdout, want)
		assert.Equal(t, "tpsl report: "+want+"\n", strings.Replace(stderr, filepath.Dir(other)+": read ", "read ", 1))
		assert.Equal(t, exitUsage, code)
	}
}
