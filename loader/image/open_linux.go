// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Open maps a file read-only and parses it. Errors of the file system are
// *fs.PathError; a directory, device or pipe is one too.
func Open(path string) (*Image, error) {
	// O_NONBLOCK: opening a named pipe must not wait for its writer.
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)

	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	if st.Size == 0 { // which mmap(2) refuses
		return Parse(path, nil)
	}
	data, err := unix.Mmap(fd, 0, int(st.Size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, &fs.PathError{Op: "map", Path: path, Err: err}
	}
	m, err := Parse(path, data)
	if err != nil {
		return nil, errors.Join(err, unix.Munmap(data))
	}
	m.ID = fileID(st)
	m.unmap = func() error {
		if err := unix.Munmap(data); err != nil {
			return fmt.Errorf("unmap: %w", os.NewSyscallError("munmap", err))
		}
		return nil
	}
	return m, nil
}

// Identify tells which file is at a path now.
func Identify(path string) (FileID, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return FileID{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return fileID(st), nil
}

func fileID(st unix.Stat_t) FileID {
	return FileID{Dev: st.Dev, Ino: st.Ino, Size: st.Size, MtimeSec: st.Mtim.Sec, MtimeNsec: st.Mtim.Nsec}
}

func ignoringEINTR(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
