// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package procs

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// groupPrefix begins the names of all groups and folders.
const groupPrefix = "tpsl_"

// staleAfter is the age from which an empty group counts as abandoned. A younger group may be about to get its processes.
const staleAfter = time.Minute

// removeLimit bounds the wait for a control group's killed processes.
const removeLimit = 3 * time.Second

// killFile is the file of a group to which a write ends the group's processes.
const killFile = "cgroup.kill"

// A Group is a control group of one job (cgroups(7), version 2), below that of this process. It also ends processes that a
// subreaper cannot end, because all their subreapers are gone. A nil Group does nothing.
type Group struct {
	dir    string
	folder int // its descriptor

	mu     sync.Mutex
	closed bool
	keeper int      // its pid, or 0
	pipe   *os.File // when it is closed, the keeper knows that this process is gone
}

// NewGroup makes a group tpsl_KEY, or returns nil where this process may not or the kernel has no cgroup.kill (before
// Linux 5.14).
func NewGroup(key string) *Group {
	own := ownCgroup("")
	if own == "" {
		return nil
	}
	g := &Group{dir: filepath.Join(own, groupPrefix+key)}
	if syscall.Mkdir(g.dir, 0o755) != nil {
		return nil
	}
	var err error
	if g.folder, err = syscall.Open(g.dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0); err == nil {
		err = syscall.Access(filepath.Join(g.dir, killFile), 0)
	}
	if err != nil {
		_ = syscall.Rmdir(g.dir)
		return nil
	}
	return g
}

// keep is the program of the keeper. When no process holds the pipe any more, it ends the group. The group may be gone already.
const keep = `read -r nothing
for pause in 0.1 0.1 0.1 0.2 0.2 0.5 1 2 5; do # a machine may be slow to end them
  [ -d "$0" ] || exit 0
  echo 1 >"$0/cgroup.kill"
  rmdir "$0" && exit 0
  sleep $pause
done`

// Keep starts a process that ends the group when this process is gone for any reason. It also removes groups that earlier jobs
// have left.
func (g *Group) Keep() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	removeStale(filepath.Dir(g.dir))
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start keeper of %s: %w", g.dir, err)
	}
	defer r.Close()
	g.keeper, err = syscall.ForkExec("/bin/sh", []string{"sh", "-c", keep, g.dir}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{"PATH=/usr/bin:/bin"},
		Files: []uintptr{r.Fd()}, // its messages are dropped
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		w.Close()
		g.keeper = 0
		return fmt.Errorf("start keeper of %s: %w", g.dir, err)
	}
	g.pipe = w
	return nil
}

// Attributes have a new process start in the group.
func (g *Group) Attributes(attr *syscall.SysProcAttr) {
	if g != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, g.folder
	}
}

// Kill kills every process of the group.
func (g *Group) Kill() {
	if g != nil {
		killGroup(g.dir)
	}
}

// Close kills the processes that are left in the group and ends its keeper. Call Remove after the killed processes were collected.
func (g *Group) Close() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if syscall.Rmdir(g.dir) != nil { // it is not empty
		g.Kill()
	}
	if g.keeper > 0 {
		_ = syscall.Kill(g.keeper, syscall.SIGKILL)
		_, _ = syscall.Wait4(g.keeper, nil, 0, nil) // somebody else in this process may have collected it
		g.pipe.Close()
	}
}

// Remove removes the group.
func (g *Group) Remove() {
	if g != nil {
		removeGroup(g.dir)
		_ = syscall.Close(g.folder)
	}
}

// RemoveLeft removes what killed proxies and their ranks have left on this host: for each key the group, which a process in the same
// control group as this one has made, and the folder of the PMIx server, and shared memory made since a time of [Now].
func RemoveLeft(keys []string, since time.Time, makers Makers) {
	for _, key := range keys {
		if own := ownCgroup(""); own != "" {
			removeGroup(filepath.Join(own, groupPrefix+key))
		}
		_ = os.RemoveAll(PMIxFolder(key)) // most jobs have none
	}
	RemoveSharedMemory(since, makers)
}

// PMIxFolder names the folder of a PMIx server. Its sockets and other files belong to this job only.
func PMIxFolder(key string) string { return filepath.Join(os.TempDir(), groupPrefix+key+"_pmix") }

// removeStale removes groups whose job was killed with all of its processes, if the keeper was killed too or had not been started.
func removeStale(own string) {
	dirs, _ := filepath.Glob(filepath.Join(globEscape(own), groupPrefix+"*")) // the pattern is well formed
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = syscall.Rmdir(dir) // the kernel keeps a group that has processes
		}
	}
}

func killGroup(dir string) { _ = os.WriteFile(filepath.Join(dir, killFile), []byte("1"), 0) }

// removeGroup waits until killed processes have left the group, because the kernel keeps a group with processes (EBUSY).
func removeGroup(dir string) {
	insist(removeLimit, func() bool {
		if err := syscall.Rmdir(dir); err == nil || err == syscall.ENOENT {
			return true
		}
		killGroup(dir)
		return false
	})
}
