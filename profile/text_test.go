// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func textOfProfile(t *testing.T, p *Profile) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, p.Text(&out))
	return out.String()
}

func compared2(t *testing.T, a, b *Profile) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, Compare(a, b, &out))
	return out.String()
}

// longNames gives a profile names that are as bad as users may choose them.
func longNames(p *Profile) *Profile {
	p.Job.Command = "./a.out \x1b[2J " + strings.Repeat("many words ", 40) + " \u202e<script>alert(1)</script>"
	p.Hosts[0].Name = "a-host-with-a-very-long-name.in.a.domain.example"
	p.Places[placeSum].File = "/src/" + strings.Repeat("very", 30) + "long.c"
	p.Communicators[1].Name = "</script><b>\nrow"
	p.Notes = append(p.Notes, "<i>note</i>")
	return p
}

// Lines fit 80 columns and have nothing that a terminal would act upon, whatever names the user has chosen.
func TestTextFitsTerminal(t *testing.T) {
	for _, p := range []*Profile{madeUp(4, 2, 1), madeUp(64, 8, 2), madeUp(4096, 8, 64), longNames(madeUp(64, 8, 2)), ranksOf(Rank{})} {
		for _, text := range []string{textOfProfile(t, p), compared2(t, p, madeUp(64, 1, 2))} {
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				assert.LessOrEqual(t, utf8.RuneCountInString(line), width, line)
				assert.Equal(t, strings.TrimRight(line, " "), line)
				assert.Equal(t, -1, strings.IndexFunc(line, unicode.IsControl), "%q", line)
			}
			assert.NotContains(t, text, "NaN")
			assert.NotContains(t, text, "Inf")
		}
	}
}

// The text has what the page has, with its numbers.
func TestText(t *testing.T) {
	text := textOfProfile(t, madeUp(64, 8, 2))
	for _, want := range []string{
		"Profile of ./solver -grid 4096 -steps 2000 input/reactor.nml\n", "64 ranks in 8 processes on 2 hosts: node01, node02\n", "101 s elapsed; between MPI_Init and MPI_Finalize, ranks were in MPI for 3",
		"\nIn short\n", "\nEfficiency\n", "Parallel efficiency", "\nWhat to change\n", "Of 64 ranks, those that compute longest and shortest.", "    36  node02   81.0 s     0 s  ",
		"MPI_Allreduce", "solver.c:212", "halo.c:88", "hist_sync()", "-rpp 8", "as it was", "32 KiB-64 KiB", "MPI_COMM_WORLD", "\nWho comes late\n",
		"exact to 2.00 us", "  - Calls of rank 1",
	} {
		assert.Contains(t, text, want)
	}
	assert.Len(t, regexp.MustCompile(`(?m)^ +\d+  node0\d `).FindAllString(text, -1), textRanks)
}

// What is not as in other jobs stands at the top.
func TestUnusual(t *testing.T) {
	p := madeUp(64, 8, 2)
	p.Job.ExitCode = 9
	for i := range 20 {
		p.Ranks[i].Counted = false
	}
	p.Ranks[40].Ended = false
	p.Ranks[41].Peers = append(p.Ranks[41].Peers, Peer{Rank: Other, Sent: Amount{1, 2048}})
	assert.Equal(t, []string{
		"The job ended with exit code 9.",
		"Nothing is known of 20 ranks, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more: there was no MPI call to count, or no start, or the host was lost.",
		"Not at the end of MPI_Finalize: 1 rank, 40. What is told goes to the last call that is known, and what was being counted then may be missing.",
		"2.00 KiB went to ranks that did not fit into a table, or of other worlds. They are in no matrix and in no share.",
	}, p.summarize().unusual())
	textOfProfile(t, p)
}

func TestBar(t *testing.T) {
	assert.Equal(t, "##########wwwww???..", bar(division{5, 2.5, 1.5, 1}, 10))
	assert.Equal(t, "#####", bar(division{compute: 2.5}, 10), "it ended before the others")
	assert.Empty(t, bar(division{}, 0))
}

func TestCompare(t *testing.T) {
	a, b := madeUp(64, 1, 2), madeUp(64, 8, 2)
	b.Job.Elapsed, b.Job.Command = a.Job.Elapsed/2, "./solver -fast"
	for i := range b.Ranks {
		b.Ranks[i].Calls[4].Time /= 2
	}
	text := compared2(t, a, b)
	for _, want := range []string{
		"- command: ./solver -grid", "- processes: 64, then 8", "- ranks in a process: 1, then 8", "- layout: 1 ranks in each process",
		"elapsed", "50.7 s  0.50", "MPI_Allreduce", "solver.c:212 MPI_Allreduce", "parallel efficiency", "computation scalability of B is", "stays in the process",
	} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "- hosts:")
	assert.NotContains(t, text, "- CPUs of hosts:")
	b.Hosts[1].CPUs = 32
	assert.Contains(t, compared2(t, a, b), "- CPUs of hosts: 64, then 64, 32\n")
	same := compared2(t, a, madeUp(64, 1, 2))
	assert.Contains(t, same, "Nothing: the same command, ranks, processes and hosts.")
	for line := range strings.Lines(same) {
		if fields := strings.Fields(line); strings.HasPrefix(line, "  elapsed") {
			assert.Equal(t, "1.00", fields[len(fields)-1])
		}
	}
}

func TestRatio(t *testing.T) {
	for want, pair := range map[string][2]float64{"-": {0, 1}, "0.50": {2, 1}, "12.0": {1, 12}, "0.00": {1, 0}, "1.0e+12": {1, 1e12}} {
		assert.Equal(t, want, ratio(pair[0], pair[1]), fmt.Sprint(pair))
	}
}
