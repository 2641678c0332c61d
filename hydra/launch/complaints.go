// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"sync"
)

// complaints are what srun writes to its stderr. Only srun knows that a task has died, because other tasks keep its output open.
type complaints struct {
	step *step
	rest []byte // of an unfinished line
}

// taskDied matches "srun: error: n3: task 2: Killed", and the same message about several tasks.
var taskDied = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\S+: error: \S+: tasks? (\S+): `) })

// Write implements io.Writer.
func (c *complaints) Write(b []byte) (int, error) {
	_, _ = c.step.stderr.Write(b)
	c.rest = append(c.rest, b...)
	for {
		line, rest, whole := bytes.Cut(c.rest, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		c.rest = rest
		if m := taskDied().FindSubmatch(line); m != nil {
			c.step.died(string(m[1]), errors.New(string(line)))
		}
	}
}

// died ends the lane of a task, or all lanes if the message is about several tasks.
func (st *step) died(task string, err error) {
	number, several := strconv.Atoi(task)
	for _, l := range st.lanes {
		st.mu.Lock()
		its := several != nil || l.to != nil && l.to.task == number
		st.mu.Unlock()
		if its {
			st.end(l, err)
		}
	}
}
