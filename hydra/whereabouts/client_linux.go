// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package whereabouts

import (
	"encoding/json"
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

const (
	// answerLimit is how long mpiexec may take to answer, and stacksLimit if stacks are to be read.
	answerLimit, stacksLimit = 15 * time.Second, time.Minute
	// longestAnswer bounds an answer, which takes some hundred bytes for each rank.
	longestAnswer = 64 << 20
)

// ErrNoJob says that a process is of no job that can be asked.
var ErrNoJob = errors.New("is of no job of mpiexec")

// ErrEnded says that mpiexec has closed the connection.
var ErrEnded = errors.New("is not yours, or it is ending")

// A Connection leads to an mpiexec. It is for one goroutine at a time.
type Connection struct {
	PID     int // of mpiexec
	conn    *net.UnixConn
	limited *io.LimitedReader
	decoder *json.Decoder
}

// Connect connects to the mpiexec of a process's job: the process itself, or the one that has started it on this host.
func Connect(pid int) (*Connection, error) {
	if err := unix.Kill(pid, 0); errors.Is(err, unix.ESRCH) {
		return nil, fmt.Errorf("there is no process %d", pid)
	}
	for ancestor, alive := pid, true; alive && ancestor > 1; ancestor, alive = procs.Parent(ancestor) {
		c, err := connectTo(ancestor)
		if !errors.Is(err, unix.ECONNREFUSED) {
			return c, err
		}
	}
	return nil, fmt.Errorf("process %d %w", pid, ErrNoJob)
}

func connectTo(pid int) (*Connection, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: name(pid), Net: "unix"})
	if err != nil {
		return nil, err
	}
	peer, err := peerOf(conn)
	if err == nil && (int(peer.Pid) != pid || peer.Uid != 0 && os.Getuid() != 0 && peer.Uid != uint32(os.Getuid())) {
		err = fmt.Errorf("process %d is not yours", pid)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	limited := &io.LimitedReader{R: conn}
	return &Connection{PID: pid, conn: conn, limited: limited, decoder: json.NewDecoder(limited)}, nil
}

// Close ends the connection, and what mpiexec does for it.
func (c *Connection) Close() { c.conn.Close() }

// Where returns where the ranks are, in lines.
func (c *Connection) Where() (string, error) {
	answer, err := c.ask(askWhere, answerLimit)
	return answer.Text, err
}

// Stacks returns the same, and the stacks of the ranks.
func (c *Connection) Stacks() (string, error) {
	answer, err := c.ask(askStacks, stacksLimit)
	return answer.Text, err
}

// Look returns what the ranks do, and what they have used. The first call begins to sample them. mpiexec ends the connection of one who
// has asked nothing for long, such as a process that was stopped: then this connects again.
func (c *Connection) Look() (Job, error) {
	job, err := c.look()
	if !errors.Is(err, ErrEnded) {
		return job, err
	}
	again, failed := connectTo(c.PID)
	if failed != nil {
		return job, err
	}
	c.Close()
	*c = *again
	return c.look()
}

func (c *Connection) look() (Job, error) {
	answer, err := c.ask(askLook, answerLimit)
	if err == nil && answer.Job == nil {
		err = fmt.Errorf("mpiexec (PID %d) answers something else than was asked; run tpsl of its version", c.PID)
	}
	if err != nil {
		return Job{}, err
	}
	return *answer.Job, nil
}

// ask puts a question and reads the answer.
func (c *Connection) ask(what string, limit time.Duration) (answer Answer, err error) {
	_ = c.conn.SetDeadline(time.Now().Add(limit))
	c.limited.N = longestAnswer
	if err = json.NewEncoder(c.conn).Encode(Question{what}); err == nil {
		err = c.decoder.Decode(&answer)
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, unix.EPIPE), errors.Is(err, unix.ECONNRESET):
		return answer, fmt.Errorf("the job of mpiexec (PID %d) %w", c.PID, ErrEnded)
	case err != nil:
		return answer, fmt.Errorf("mpiexec (PID %d) does not answer: %w", c.PID, err)
	case answer.Error != "":
		return answer, fmt.Errorf("mpiexec (PID %d) does not answer: %s", c.PID, answer.Error)
	}
	return answer, nil
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
