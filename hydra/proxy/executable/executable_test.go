// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is executed for a program, with which arguments and variables, follows from its mode.
func TestModes(t *testing.T) {
	args := []string{"prog", "-x"}
	for name, c := range map[string]struct {
		python         python
		sharing        sharing
		private, stand bool
		file           string
		argv, settings []string
	}{
		"a process":             {python{}, sharing{}, false, false, "/bin/prog", args, nil},
		"shared, by a stand-in": {python{}, sharing{standIn: []string{"LD_PRELOAD=/s"}}, false, true, "/bin/prog", args, []string{"LD_PRELOAD=/s"}},
		"private":               {python{}, sharing{privateHost: "/lib/host"}, true, false, "/lib/host", []string{"/lib/host", "/bin/prog", "prog", "-x"}, nil},
		"private, with a tool and a heap": {python{}, sharing{privateHost: "/lib/host", tools: []string{"/t", "/h"}, heaps: []string{"/h"}}, true, false,
			"/lib/host", []string{"/lib/host", "/bin/prog", "prog", "-x"}, []string{"TPSL_TOOLS=/t:/h", "LD_PRELOAD=/h"}},
		"a script of Python": {python{file: "/lib/python", args: []string{"python3", "-u", "/bin/prog"}, settings: []string{"TPSL_PYTHON=/l"}}, sharing{privateHost: "/lib/host"}, true, false,
			"/lib/host", []string{"/lib/host", "/bin/prog", "python3", "-u", "/bin/prog", "-x"}, []string{"TPSL_PYTHON=/l"}},
	} {
		e := Executable{Path: "/bin/prog", python: c.python, sharing: c.sharing}
		assert.Equal(t, []bool{c.private, c.stand}, []bool{e.IsPrivate(), e.HasStandIn()}, name)
		file, argv := e.Command(args)
		assert.Equal(t, c.file, file, name)
		assert.Equal(t, c.argv, argv, name)
		assert.Equal(t, c.settings, e.Settings(), name)
	}
	assert.Equal(t, []string{"prog", "-x"}, args)
}
