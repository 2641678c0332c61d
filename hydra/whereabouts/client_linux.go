// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package whereabouts

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/procs"
)

// answerLimit is how long mpiexec may take to answer.
const answerLimit = 15 * time.Second

// ErrNoJob says that a process is of no job that can be asked.
var ErrNoJob = errors.New("is of no job whose ranks note their calls (mpiexec -state)")

// Ask returns where the ranks of a job are. The job is that of a process: of mpiexec, or of one that it has started on this host.
func Ask(pid int) (string, error) {
	if err := unix.Kill(pid, 0); errors.Is(err, unix.ESRCH) {
		return "", fmt.Errorf("there is no process %d", pid)
	}
	for ancestor, alive := pid, true; alive && ancestor > 1; ancestor, alive = procs.Parent(ancestor) {
		text, err := askOne(ancestor)
		if !errors.Is(err, unix.ECONNREFUSED) {
			return text, err
		}
	}
	return "", fmt.Errorf("process %d %w", pid, ErrNoJob)
}

func askOne(pid int) (string, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: name(pid), Net: "unix"})
	if err != nil {
		return "", err
	}
	defer conn.Close()
	peer, err := peerOf(conn)
	if err != nil {
		return "", err
	}
	if int(peer.Pid) != pid || peer.Uid != 0 && os.Getuid() != 0 && peer.Uid != uint32(os.Getuid()) {
		return "", fmt.Errorf("process %d is not yours", pid)
	}
	_ = conn.SetReadDeadline(time.Now().Add(answerLimit))
	text, err := io.ReadAll(conn)
	switch {
	case err != nil:
		return "", fmt.Errorf("mpiexec (PID %d) does not answer: %w", pid, err)
	case len(text) == 0:
		return "", fmt.Errorf("the job of mpiexec (PID %d) is not yours, or it is ending", pid)
	}
	return string(text), nil
}

// Jobs lists the processes of mpiexec on this host that can be asked, of whatever user.
func Jobs() ([]int, error) {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	var pids []int
	for line := range strings.Lines(string(text)) {
		if _, number, found := strings.Cut(strings.TrimSpace(line), " "+strings.TrimSuffix(name(0), "0")); found {
			if pid, err := strconv.Atoi(number); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids), nil
}
