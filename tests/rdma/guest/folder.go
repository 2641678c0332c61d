// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// folderName begins the names of groups' folders.
const folderName = "tpsl-guests"

// makeFolder makes the group's folder, and removes those of groups whose process was killed: a file in each is locked for as
// long as its process lives.
func (g *Group) makeFolder(parent string) (err error) {
	if g.dir, err = os.MkdirTemp(parent, folderName); err != nil {
		return err
	}
	early := filepath.Join(g.dir, "alive.new")
	if g.alive, err = os.Create(early); err != nil {
		return err
	}
	if err := unix.Flock(int(g.alive.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return os.NewSyscallError("flock", err)
	}
	return errors.Join(os.Rename(early, filepath.Join(g.dir, "alive")), sweep(parent))
}

// sweep removes the folders of dead groups. One of another user stays.
func sweep(parent string) (err error) {
	all, _ := filepath.Glob(filepath.Join(parent, folderName+"*", "alive"))
	for _, name := range all {
		file, openErr := os.OpenFile(name, os.O_RDWR, 0)
		if openErr != nil {
			continue
		}
		if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			err = errors.Join(err, os.RemoveAll(filepath.Dir(name)))
		}
		file.Close()
	}
	return err
}
