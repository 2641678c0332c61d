// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
)

const (
	stdinChunk  = 64 << 10
	stdinWindow = 4 * stdinChunk
)

// ReadsStdin reports whether some rank of the host gets mpiexec's stdin.
func (h HostPlan) ReadsStdin() bool {
	return slices.ContainsFunc(h.Sets, func(set RankSet) bool { return h.Stdio.Stdin.HoldAny(set.Ranks) })
}

func (j *Job) stdinReaders() (readers []*proxyLink) {
	for _, link := range j.proxies {
		if link.stdin != nil {
			readers = append(readers, link)
		}
	}
	return readers
}

// feedStdin sends this process's stdin to the proxies whose ranks read it, no further ahead than the slowest of them
// allows. When nobody reads any more, stdin is closed, so that whoever writes it finds out as in any pipeline.
func feedStdin(readers []*proxyLink) {
	defer func() {
		for _, link := range readers {
			link.conn.Send(channel.StdinEOF, 0, nil)
		}
	}()
	if len(readers) == 0 || inBackground() {
		return
	}
	for {
		readers = slices.DeleteFunc(readers, func(link *proxyLink) bool { return !link.stdin.Acquire(stdinChunk) })
		if len(readers) == 0 {
			os.Stdin.Close()
			return
		}
		chunk := make([]byte, stdinChunk)
		n, err := patient{os.Stdin}.Read(chunk)
		for _, link := range readers {
			if n > 0 {
				link.conn.Send(channel.Stdin, 0, chunk[:n])
			}
			link.stdin.Release(stdinChunk - n)
		}
		if err != nil {
			return
		}
	}
}

// inBackground reports whether reading stdin would stop the job: it is a terminal that another process group has.
func inBackground() bool {
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	return err == nil && group != unix.Getpgrp()
}
