// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

var (
	maker  = regexp.MustCompile("(?m)^Made of `raw.txt` by `scripts/(.*) -plot raw.txt`")
	bound  = regexp.MustCompile(`^(not worse|at (least|most) [0-9.]+)(, .*)?$`)
	ratio  = regexp.MustCompile(`\b[0-9.]+ \([0-9.]+-[0-9.]+\)`)
	parts  = regexp.MustCompile(`\b([0-9.]+)(?: \S+)?\s+(?:\(|\| )([0-9.]+)-([0-9.]+)(?:\)| \|)`) // of a ratio, in a sentence or a row
	makers = map[string]string{"bench": "./tests/bench", "bench-engine": "./tests/bench/engine", "bench-rdma": "./tests/bench/rdma"}
)

// Every summary in docs/results is what the command makes of the raw file beside it, so its verdicts are those of the rule.
// The README's picture is so, too.
func TestSummariesAreOfTheirRawFiles(t *testing.T) {
	t.Chdir(testsupport.Root(t))
	work, raws := t.TempDir(), map[string][]string{}
	for _, raw := range glob(t, "docs/results/*/raw.txt") {
		folder := filepath.Dir(raw)
		made := maker.FindStringSubmatch(read(t, folder+"/summary.md"))
		require.NotNil(t, made, folder)
		copied := filepath.Join(work, raw)
		require.NoError(t, os.MkdirAll(filepath.Dir(copied), 0o777))
		require.NoError(t, os.WriteFile(copied, []byte(read(t, raw)), 0o666))
		raws[makers[made[1]]] = append(raws[makers[made[1]]], copied)
	}
	for from, copies := range raws {
		_, stderr, code := testsupport.Run(t, 5*time.Minute, nil, append([]string{"go", "run", from, "-plot"}, copies...)...)
		require.Zero(t, code, stderr)
	}
	for _, summary := range glob(t, "docs/results/*/summary.md") {
		assert.Equal(t, read(t, filepath.Join(work, summary)), read(t, summary), "%s is not of its raw file: make it anew by -plot", summary)
	}
	checkLeadPicture(t, work)
}

var firstPicture = regexp.MustCompile(`!\[[^\]]*\]\(([^)]*)\)`)

// checkLeadPicture compares the first picture of the README with the one that was made anew, of the raw file beside it.
func checkLeadPicture(t *testing.T, work string) {
	picture := firstPicture.FindStringSubmatch(read(t, "README.md"))
	require.NotNil(t, picture)
	assert.Equal(t, "ratios.svg", filepath.Base(picture[1]))
	assert.Equal(t, read(t, filepath.Join(work, picture[1])), read(t, picture[1]), "the README's picture is not of its raw file: make it anew by -plot")
}

// Every figure with a goal in a document's table is one of docs/results, with its interval and verdict, and so is every
// ratio with its interval, which sentences may round; and every goal of docs/results that was not reached stands in a document.
func TestDocumentsSayTheVerdicts(t *testing.T) {
	t.Chdir(testsupport.Root(t))
	measured := map[string]string{} // what, by median, interval, goal and verdict
	var summaries strings.Builder
	for _, summary := range glob(t, "docs/results/*/summary.md") {
		text := read(t, summary)
		summaries.WriteString(text)
		for _, row := range goalRows(text, 6) {
			measured[strings.Join(slices.Delete(slices.Clone(row[1:]), 2, 3), " | ")] = summary + ": " + row[0] // without the runs
		}
	}
	results := parts.FindAllStringSubmatch(summaries.String(), -1)
	told := map[string]bool{}
	for _, document := range slices.Concat([]string{"README.md"}, glob(t, "docs/*.md"), glob(t, "docs/endpoints/*.md")) {
		text := read(t, document)
		for _, row := range goalRows(text, 5) {
			figures := strings.Join(row[1:], " | ")
			assert.Contains(t, measured, figures, "%s: %s is not in docs/results", document, row[0])
			told[figures] = true
		}
		rows, prose := apart(text)
		for _, figures := range parts.FindAllStringSubmatch(prose, -1) {
			isRounded := func(result []string) bool { return rounds(result[1:], figures[1:]) }
			assert.True(t, slices.ContainsFunc(results, isRounded), "%s: %s rounds no result of docs/results", document, figures[0])
		}
		for _, figures := range ratio.FindAllString(rows, -1) {
			if !strings.Contains(summaries.String(), " "+figures+" ") {
				assert.Fail(t, "figures without a result", "%s: %s is not in docs/results", document, figures)
			}
		}
		assert.Empty(t, strayGoals(text), "%s: a goal outside a table with the columns median, 95 %% interval, goal, verdict", document)
	}
	require.NotEmpty(t, told)
	for _, figures := range slices.Sorted(maps.Keys(measured)) {
		if strings.HasSuffix(figures, "| "+missed) || strings.HasSuffix(figures, "| "+undecided) {
			assert.True(t, told[figures], "no document tells: %s | %s", measured[figures], figures)
		}
	}
}

func TestGoalRows(t *testing.T) {
	const text = "| | median | 95 % interval | goal | |\n|---|---|---|---|---|\n| a | 1 | 0.9-1.1 | not worse | reached |\n| b | 2 | 1-3 | | |\n" +
		"\n| | goal |\n|---|---|\n| c | not worse |\n| d | at most 0.8, missed |\n| e | at most 1,024 |\n"
	assert.Equal(t, [][]string{{"a", "1", "0.9-1.1", "not worse", "reached"}, {"b", "2", "1-3", "", ""}}, goalRows(text, 5))
	assert.Equal(t, []string{"| c | not worse |", "| d | at most 0.8, missed |"}, strayGoals(text))
}

// goalRows returns the cells of the rows of the tables of goals: those with an interval, and so many columns.
func goalRows(text string, columns int) (rows [][]string) {
	within := false
	for line := range strings.Lines(text) {
		row := cells(line)
		switch {
		case row == nil:
			within = false
		case len(row) == columns && row[1] == "median" && row[2] == "95 % interval":
			within = true
		case within && !strings.HasPrefix(row[0], "--"):
			rows = append(rows, row)
		}
	}
	return rows
}

// strayGoals returns the rows with a goal that stand in other tables.
func strayGoals(text string) (rows []string) {
	inside := map[string]bool{}
	for _, row := range goalRows(text, 5) {
		inside[strings.Join(row, "|")] = true
	}
	for line := range strings.Lines(text) {
		if row := cells(line); slices.ContainsFunc(row, bound.MatchString) && !inside[strings.Join(row, "|")] {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	return rows
}

// apart returns the lines of all tables, and all other lines.
func apart(text string) (rows, prose string) {
	var in, out strings.Builder
	for line := range strings.Lines(text) {
		if cells(line) != nil {
			in.WriteString(line)
		} else {
			out.WriteString(line)
		}
	}
	return in.String(), out.String()
}

// rounds tells whether each figure is a number, rounded to the figure's decimals. What ends with 5 may be rounded either way.
func rounds(numbers, figures []string) bool {
	for i, figure := range figures {
		_, decimals, _ := strings.Cut(figure, ".")
		number, err := strconv.ParseFloat(numbers[i], 64)
		said, errSaid := strconv.ParseFloat(figure, 64)
		if half := 0.5 / math.Pow10(len(decimals)); err != nil || errSaid != nil || math.Abs(number-said) > half+1e-9 {
			return false
		}
	}
	return true
}

func TestRounds(t *testing.T) {
	result := []string{"0.8449", "0.8", "1.155"}
	for _, figures := range [][]string{{"0.8449", "0.8", "1.155"}, {"0.84", "0.80", "1.16"}, {"0.845", "1", "1.15"}} {
		assert.True(t, rounds(result, figures), figures)
	}
	for _, figures := range [][]string{{"0.85", "0.8", "1.155"}, {"0.84", "0.81", "1.16"}, {"0.84", "0.8", "1.14"}} {
		assert.False(t, rounds(result, figures), figures)
	}
}

// cells takes a row of a table apart; nil: it is none.
func cells(line string) (row []string) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
		row = append(row, strings.TrimSpace(cell))
	}
	return row
}

func glob(t *testing.T, pattern string) []string {
	names, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, names)
	return names
}

func read(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}
