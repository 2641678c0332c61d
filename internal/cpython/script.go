// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package cpython

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"github.com/tpsl/tpsl/internal/shellwords"
)

// lineLimit is how much the kernel reads of a script for its first line (BINPRM_BUF_SIZE).
const lineLimit = 256

// firstLine returns what follows "#!" in the first line of a script; "" if the file is none.
func firstLine(path string) string {
	file, err := open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	head := make([]byte, lineLimit)
	n, _ := io.ReadFull(file, head) // a shorter file is as good
	line, _, whole := bytes.Cut(head[:n], []byte("\n"))
	rest, is := bytes.CutPrefix(line, []byte("#!"))
	if !is || (!whole && n == lineLimit) {
		return ""
	}
	return strings.Trim(string(rest), " \t")
}

// followScript goes on to what the first line of a script names, with the arguments that the kernel gives it (execve(2)): all that
// follows its path is one argument. It returns false if the file is no script, or it does not tell what runs it.
func (i *Interpreter) followScript() bool {
	line := firstLine(i.Path)
	interpreter, argument := line, ""
	if at := strings.IndexAny(line, " \t"); at >= 0 {
		interpreter, argument = line[:at], strings.TrimLeft(line[at:], " \t")
	}
	if interpreter == "" {
		return false
	}
	var args []string
	if argument != "" {
		args = []string{argument}
	}
	path := interpreter
	if filepath.Base(path) == "env" {
		if args = envCommand(argument); len(args) == 0 {
			return false
		}
		var err error
		if path, err = i.place.Look(args[0]); err != nil {
			return false // env(1) says why
		}
	} else {
		args = append([]string{interpreter}, args...)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(i.place.Dir, path)
	}
	i.Args = append(append(args, i.Path), i.Args[1:]...)
	i.Path = path
	return true
}

// envCommand returns the command that env(1) runs for its one argument: a name, or with -S a line. It is empty for other options and
// for settings of the environment.
func envCommand(argument string) []string {
	words := []string{argument}
	for _, option := range []string{"-S", "--split-string="} {
		if line, is := strings.CutPrefix(argument, option); is {
			words, _ = shellwords.Split(line)
			break
		}
	}
	if len(words) == 0 || words[0] == "" || strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=") {
		return nil
	}
	return words
}
