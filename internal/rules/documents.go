// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// readmeLimit is how many bytes the README may have.
const readmeLimit = 6000

// readmeCommands are the two commands of the README: how one begins, and how one tests.
var readmeCommands = []string{"\n    ./scripts/quickstart ", "\n    ./scripts/test "}

// checkReadme returns a line for each rule of the README that its text breaks.
func checkReadme(text string) (broken []string) {
	if len(text) > readmeLimit {
		broken = append(broken, fmt.Sprintf("README.md: has %d bytes, and may have %d", len(text), readmeLimit))
	}
	for _, command := range readmeCommands {
		if !strings.Contains(text, command) {
			broken = append(broken, "README.md: lacks the command "+strings.TrimSpace(command))
		}
	}
	return broken
}

var readerLine = regexp.MustCompile(`^\*For (users|administrators|contributors) [^*]*\*$`)

// checkReader complains of a document whose first paragraph below the title does not name its one reader.
func checkReader(name, text string) string {
	_, behind, _ := strings.Cut("\n"+text, "\n# ")
	_, behind, _ = strings.Cut(behind, "\n\n")
	paragraph, _, _ := strings.Cut(behind, "\n\n")
	if !readerLine.MatchString(strings.ReplaceAll(strings.TrimSpace(paragraph), "\n", " ")) {
		return name + ": does not begin with its reader: *For users who ...*, administrators or contributors"
	}
	return ""
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	code    = regexp.MustCompile("`[^`\n]*`")
)

// links returns where the links of a document lead.
func links(text string) (targets []string) {
	for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), -1) {
		targets = append(targets, m[1])
	}
	return targets
}

// anchors returns the names that the headings of a document have in links, as GitHub makes them.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		names[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])] = true
	}
	return names
}

// claims returns the rows of the tables of claims: what is claimed, and where it is shown.
func claims(text string) (rows [][2]string) {
	inside := false
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case len(cells) != 2:
			inside = false
		case strings.TrimSpace(cells[1]) == "Where":
			inside = true
		case inside && !strings.HasPrefix(cells[0], "--"):
			rows = append(rows, [2]string{strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1])})
		}
	}
	return rows
}

var (
	path     = regexp.MustCompile("(?:^|[` ])(?:\\./)?((?:scripts|tests|examples|docs|endpoints|internal)/[\\w./-]*)")
	testName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
	evidence = []*regexp.Regexp{path, testName, link, regexp.MustCompile("`TPSL_[A-Z]+=")}
)

// paths returns the files and folders of the repository that a text names.
func paths(text string) (named []string) {
	for _, m := range path.FindAllStringSubmatch(text, -1) {
		named = append(named, strings.TrimRight(m[1], "/.")) // a pattern of packages ends in /...
	}
	return named
}

// shows tells whether a text names anything that can show a claim.
func shows(text string) bool {
	for _, e := range evidence {
		if e.MatchString(text) {
			return true
		}
	}
	return false
}
