// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/pagetables"
	"github.com/tpsl/tpsl/pagetables/events"
)

// owner is a rank, or what serves all ranks of a process.
type owner struct {
	PID  int `json:"pid"`
	Rank int `json:"rank"`          // or helpers
	Job  int `json:"job,omitempty"` // as in pagetables.Rank
}

// helpers is the rank of threads that no rank started.
const helpers = -1

func (o owner) name() string {
	if o.Rank == helpers {
		return "-"
	}
	return pagetables.RankName(o.Rank, o.Job)
}

// watch tells a source who the ranks of processes are, again and again, since ranks and threads come late.
type watch struct {
	proc   pagetables.Proc
	source events.Source
	owners []owner // an owner's number is its place
	named  map[events.File]bool
}

// threads are those found: of ranks, and of those that a process has beside.
type threads struct{ own, others []events.Thread }

// update looks at the processes and returns how many have ranks. What cannot be read is an error each.
func (w *watch) update(pids []int) (alive int, errs []error) {
	var found threads
	processes, errs := w.proc.Ranks(pids)
	for _, process := range processes {
		err := w.look(process, &found)
		if gone(err) {
			continue
		}
		if err != nil {
			errs = append(errs, err)
		}
		alive++
	}
	if err := w.source.Follow(found.own, found.others); err != nil {
		errs = append(errs, err)
	}
	return alive, errs
}

// gone tells that a process or a thread has just ended.
func gone(err error) bool { return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) }

// look finds a process's threads, and tells the source its files.
func (w *watch) look(process *pagetables.Process, found *threads) error {
	theirs, err1 := os.Readlink(w.path(process.PID, "ns/pid"))
	ours, err2 := os.Readlink(filepath.Join(string(w.proc), "self/ns/pid"))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if theirs != ours {
		return fmt.Errorf("process %d is in another PID namespace, where its threads have other numbers: run tpsl trace there, as with nsenter -t %[1]d -m -p", process.PID)
	}
	if err := w.threads(process, found); err != nil {
		return err
	}
	return w.files(process.PID)
}

func (w *watch) path(pid int, name string) string {
	return filepath.Join(string(w.proc), strconv.Itoa(pid), name)
}

// threads gives each thread to its rank. A rank that has a process of its own has all its threads; of those that
// share one, with others or with the program that called TPSL_Run, each has the thread that the process says, and those that this starts.
func (w *watch) threads(process *pagetables.Process, found *threads) error {
	sharing := map[int][]pagetables.Rank{}
	for _, rank := range process.Ranks {
		if rank.Thread == 0 {
			continue
		}
		group, err := w.group(rank.Thread)
		if gone(err) {
			continue // another one may adopt the rank
		}
		if err != nil {
			return err
		}
		sharing[group] = append(sharing[group], rank)
	}
	apart := len(process.Ranks) == 1 && process.Ranks[0].Job == 0 || len(sharing) > 1
	for _, pid := range slices.Sorted(maps.Keys(sharing)) {
		ranks := sharing[pid]
		entries, err := os.ReadDir(w.path(pid, "task"))
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		for _, entry := range entries {
			id, _ := strconv.Atoi(entry.Name())
			i := slices.IndexFunc(ranks, func(r pagetables.Rank) bool { return apart || pid != process.PID || r.Thread == id })
			if i >= 0 {
				found.own = append(found.own, events.Thread{ID: id, Owner: w.number(owner{pid, ranks[i].Rank, ranks[i].Job})})
			} else {
				found.others = append(found.others, events.Thread{ID: id, Owner: w.number(owner{PID: pid, Rank: helpers})})
			}
		}
	}
	return nil
}

// group reads which process a thread is of.
func (w *watch) group(thread int) (int, error) {
	text, err := os.ReadFile(w.path(thread, "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "Tgid:"); ok {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return 0, fmt.Errorf("thread %d: its status tells no Tgid", thread)
}

// number returns an owner's place.
func (w *watch) number(o owner) int {
	i := slices.Index(w.owners, o)
	if i < 0 {
		i = len(w.owners)
		w.owners = append(w.owners, o)
	}
	return i
}

// files names the files that a process maps.
func (w *watch) files(pid int) error {
	f, err := os.Open(w.path(pid, "maps"))
	if err != nil {
		return err
	}
	defer f.Close()
	return pagetables.ReadMappings(f, func(m *pagetables.Mapping) error {
		if m.Inode == 0 { // the kernel has a file also for memory of hugetlb, and counts its faults by that
			return nil
		}
		var file events.File
		if _, err := fmt.Sscanf(m.Device, "%x:%x", &file.Major, &file.Minor); err != nil {
			return fmt.Errorf("device %q of %s: %w", m.Device, m.Name, err)
		}
		file.Inode = m.Inode
		if w.named[file] {
			return nil
		}
		w.named[file] = true
		return w.source.Name(file, m.Name)
	})
}

// compare puts processes and their ranks in order, helpers last.
func compare(a, b owner) int {
	last := func(o owner) int {
		if o.Rank == helpers {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(last(a), last(b)), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Rank, b.Rank))
}
