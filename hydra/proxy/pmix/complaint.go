// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmix

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// A complaint is what the helper writes to stderr: why it cannot start, and warnings later.
type complaint struct {
	first string // the first line
	ended chan struct{}
	late  atomic.Bool
}

// hear starts to read what the helper writes to stderr.
func (s *Server) hear(pipe *os.File) *complaint {
	c := &complaint{ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		defer pipe.Close()
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			switch {
			case c.late.Load():
				s.events.Warned(-1, lines.Text())
			case c.first == "":
				c.first = lines.Text()
			}
		}
	}()
	return c
}

// explain adds the first line of a helper that has ended to the error. If ld.so complains of the library, it adds the
// advice, which says in which package that is.
func (c *complaint) explain(err error, library, advice string) error {
	<-c.ended
	switch {
	case c.first == "":
		return err
	case strings.Contains(c.first, library) || strings.Contains(c.first, "symbol lookup error"):
		return fmt.Errorf("%w: %s; %s", err, c.first, advice)
	}
	return fmt.Errorf("%w: %s", err, c.first)
}
