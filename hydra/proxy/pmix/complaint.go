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

// A complaint is what a program of ours writes to stderr: the reason if it cannot start, and a warning later.
type complaint struct {
	first string // line
	ended chan struct{}
	late  atomic.Bool
}

// hear reads what a program complains of.
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

// explain adds what was heard of a program that has ended to the error, and if it is ld.so that complains of a library, which
// package has that.
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
