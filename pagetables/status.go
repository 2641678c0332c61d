// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Proc is a proc filesystem, or a recorded tree of one: /proc.
type Proc string

func (p Proc) path(pid int, name string) string {
	return filepath.Join(string(p), strconv.Itoa(pid), name)
}

// status is what /proc/PID/status and stat tell.
type status struct {
	name   string
	uid    string
	inner  int // its id in its own namespace
	hasVM  bool
	tables uint64 // VmPTE: bytes of all its page tables but their root
	parent int
	born   string // tells it from a later process of the same id
}

func (p Proc) status(pid int) (*status, error) {
	text, err := os.ReadFile(p.path(pid, "status"))
	if err != nil {
		return nil, p.explain(pid, err)
	}
	stat, err := os.ReadFile(p.path(pid, "stat"))
	if err != nil {
		return nil, p.explain(pid, err)
	}
	s := parseStatus(string(text))
	s.parent, s.born = parseStat(string(stat))
	if s.inner == 0 {
		s.inner = pid
	}
	return s, nil
}

func parseStatus(text string) *status {
	var s status
	for line := range strings.SplitSeq(text, "\n") {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch key {
		case "Name":
			s.name = fields[0]
		case "Uid":
			s.uid = fields[0]
		case "NSpid":
			s.inner, _ = strconv.Atoi(fields[len(fields)-1])
		case "VmPTE":
			kilobytes, err := strconv.ParseUint(fields[0], 10, 54)
			s.tables, s.hasVM = kilobytes<<10, err == nil
		}
	}
	return &s
}

// parseStat reads parent and time of birth, fields 4 and 22 of proc_pid_stat(5). The name
// before them may hold anything.
func parseStat(text string) (parent int, born string) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= 22-3 {
		return 0, ""
	}
	parent, _ = strconv.Atoi(fields[4-3])
	return parent, fields[22-3]
}

// explain says why a file of a process could not be read.
func (p Proc) explain(pid int, err error) error {
	switch {
	case errors.Is(err, unix.ESRCH):
		return fmt.Errorf("process %d: %w: it has ended", pid, ErrGone)
	case errors.Is(err, fs.ErrNotExist):
		if p == "/proc" && !errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			return fmt.Errorf("process %d: %w: /proc is mounted with hidepid; read it as its user or as root", pid, ErrDenied)
		}
		return fmt.Errorf("process %d: %w: it has ended, or its number is that of another PID namespace", pid, ErrGone)
	case errors.Is(err, fs.ErrPermission):
		s, _ := os.ReadFile(p.path(pid, "status"))
		whose := ""
		if uid := parseStatus(string(s)).uid; uid != "" {
			whose = " of user " + uid
		}
		return fmt.Errorf("process %d%s: %w: that takes its user, or CAP_SYS_PTRACE", pid, whose, ErrDenied)
	default:
		return fmt.Errorf("process %d: %w", pid, err)
	}
}
