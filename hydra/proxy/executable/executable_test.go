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
		sharing        sharing
		private, stand bool
		file           string
		argv, settings []string
	}{
		"a process":             {sharing{}, false, false, "/bin/prog", args, nil},
		"shared, by a stand-in": {sharing{standIn: []string{"LD_PRELOAD=/s"}}, false, true, "/bin/prog", args, []string{"LD_PRELOAD=/s"}},
		"private":               {sharing{privateHost: "/lib/host"}, true, false, "/lib/host", []string{"/lib/host", "/bin/prog", "prog", "-x"}, nil},
		"private, with a tool and a heap": {sharing{privateHost: "/lib/host", tools: []string{"/t", "/h"}, heaps: []string{"/h"}}, true, false,
			"/lib/host", []string{"/lib/host", "/bin/prog", "prog", "-x"}, []string{"TPSL_TOOLS=/t:/h", "LD_PRELOAD=/h"}},
	} {
		e := Executable{Path: "/bin/prog", sharing: c.sharing}
		assert.Equal(t, []bool{c.private, c.stand}, []bool{e.IsPrivate(), e.HasStandIn()}, name)
		file, argv := e.Command(args)
		assert.Equal(t, c.file, file, name)
		assert.Equal(t, c.argv, argv, name)
		assert.Equal(t, c.settings, e.Settings(), name)
	}
	assert.Equal(t, []string{"prog", "-x"}, args)
}
