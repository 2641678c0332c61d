// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tpsl/tpsl/internal/shellwords"
	"github.com/tpsl/tpsl/internal/textfile"
)

// A configLine is a line of a configuration file, and where it began.
type configLine struct {
	where string // FILE:LINE
	words []string
}

// readConfig reads a file whose lines have options, and may have a program. A line that ends in a backslash continues on the next
// line.
func readConfig(name string) ([]configLine, error) {
	text, err := textfile.Read(name, "a configuration file")
	if err != nil {
		return nil, err
	}
	var lines []configLine
	begun, first := "", 0
	for i, line := range strings.Split(text, "\n") {
		if begun == "" {
			first = i + 1
		}
		words, err := shellwords.Split(begun + line)
		where := fmt.Sprintf("%s:%d", name, first)
		switch {
		case errors.Is(err, shellwords.ErrContinued):
			begun = strings.TrimSuffix(begun+line, `\`)
			continue
		case err != nil:
			return nil, fmt.Errorf("%s: %w", where, err)
		case len(words) > 0:
			lines = append(lines, configLine{where, words})
		}
		begun = ""
	}
	if begun != "" {
		return nil, fmt.Errorf("%s:%d: %w of the file", name, first, shellwords.ErrContinued)
	}
	return lines, nil
}

// A configCandidate is where a configuration file may be.
type configCandidate struct {
	asked string // the option or variable that names it; "" for a usual place, where there may be no file
	name  string
}

// findConfig returns the first configuration file that exists. A file that the command line names comes before all others.
func (p *parser) findConfig(getenv func(string) string) ([]configLine, error) {
	candidates := []configCandidate{{"option -configfile: ", p.global["configfile"].value}, {"HYDRA_CONFIG_FILE: ", getenv("HYDRA_CONFIG_FILE")}}
	if home := getenv("HOME"); home != "" {
		candidates = append(candidates, configCandidate{"", filepath.Join(home, ".mpiexec.hydra.conf")})
	}
	candidates = append(candidates, configCandidate{"", systemConfig()})
	for _, candidate := range candidates {
		if candidate.name == "" {
			continue
		}
		lines, err := readConfig(candidate.name)
		switch {
		case err == nil:
			return lines, nil
		case candidate.asked != "" || !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s%w", candidate.asked, err)
		}
	}
	return nil, nil
}

// systemConfig is the configuration of all users. It is in the folder etc next to the folder bin of mpiexec, or in /etc if mpiexec is
// in /usr/bin.
func systemConfig() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	prefix := filepath.Dir(filepath.Dir(program))
	if prefix == "/usr" {
		prefix = "/"
	}
	return filepath.Join(prefix, "etc", "mpiexec.hydra.conf")
}

// readConfigFile reads from the configuration file what the command line does not decide. A line with a program is a segment. The
// options of a line without a program apply to all segments. complete tells whether the command line has all its programs.
func (p *parser) readConfigFile(getenv func(string) string, complete bool) error {
	lines, err := p.findConfig(getenv)
	if err != nil {
		return err
	}
	ours, given := len(p.states), p.shared
	p.shared = nil
	for _, line := range lines {
		p.origin, p.where = configFile, line.where
		if _, err := p.parseSegments(line.words); err != nil {
			return fmt.Errorf("%s: %w", line.where, err)
		}
		if complete && len(p.states) > ours {
			return fmt.Errorf("%s: a program stands here and on the command line; leave one out", line.where)
		}
	}
	if !complete && len(p.states) == ours {
		return errNoProgram
	}
	general := p.shared
	for i := range p.states {
		if i >= ours {
			err = p.share(i, given, commandLine)
		}
		if err == nil {
			err = p.share(i, general, configGeneral)
		}
		if err != nil {
			return err
		}
	}
	p.where = ""
	return nil
}

// share applies to a segment the local options that are given elsewhere than in its own line.
func (p *parser) share(i int, settings []setting, from origin) error {
	p.enter(i)
	p.origin = from
	for _, s := range settings {
		opt, _ := findOption(s.option)
		if err := p.apply(opt, s.value); err != nil {
			return fmt.Errorf("%s: %w", s.where, err)
		}
	}
	return nil
}

// setFile reads more options of a segment from a file.
func setFile(p *parser, v string) error {
	if p.inFile {
		return errNotInFile
	}
	lines, err := readConfig(v)
	if err != nil {
		return err
	}
	outer := p.where
	p.inFile = true
	for _, line := range lines {
		p.where = line.where
		rest, err := p.parseOptions(line.words)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("%q is not an option", rest[0])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", line.where, err)
		}
	}
	p.where, p.inFile = outer, false
	return nil
}
