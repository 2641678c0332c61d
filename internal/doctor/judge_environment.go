// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"strings"

	"github.com/tpsl/tpsl/internal/environment"
	"github.com/tpsl/tpsl/internal/suggest"
)

// judgeVariables looks for misspelt variables of tpsl, which would have no effect and no message.
func judgeVariables(environ []string) (found []Finding) {
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !environment.Unknown(name) {
			continue
		}
		remedy := "tpsl(7) lists those that there are"
		if near := suggest.Nearest(name, environment.Names); near != "" {
			remedy = "did you mean " + near + "?"
		}
		found = append(found, Finding{Warning, name, "is no variable of tpsl, and has no effect", "", remedy})
	}
	return found
}

// judgeIdentity tells of an identity that a program started from here would take.
func judgeIdentity(environ []string) []Finding {
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); name == "PMI_FD" || name == "PMI_PORT" {
			return []Finding{{Note, name, value + ": programs started from here take themselves for ranks of a job", "",
				"unset PMI_FD PMI_PORT PMI_RANK PMI_SIZE, unless mpiexec started this"}}
		}
	}
	return nil
}
