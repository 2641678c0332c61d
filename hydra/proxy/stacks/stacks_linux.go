// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package stacks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	mostFrames   = 64      // of a stack
	mostText     = 4 << 20 // bytes that gdb may say of a process
	processLimit = 10 * time.Second
	mostAtOnce   = 4 // processes that are read
)

// A Thread is one of a process.
type Thread struct{ PID, TID int }

// A Stack is that of a thread, from the innermost frame on, or why it could not be read. What an MPI call has called is left out: of two
// ranks that wait in the same call it is hardly ever the same.
type Stack struct {
	Frames []string // function, arguments by name, and file with line or object
	Error  string
}

// Read returns the stacks of threads. Those that could not be read when the context is done have an error, as have those that gdb may not
// read.
func Read(ctx context.Context, threads []Thread) map[Thread]Stack {
	byProcess := map[int][]int{}
	for _, t := range threads {
		byProcess[t.PID] = append(byProcess[t.PID], t.TID)
	}
	var mu sync.Mutex
	var done sync.WaitGroup
	all := map[Thread]Stack{}
	slots := make(chan struct{}, min(mostAtOnce, runtime.NumCPU()))
	for pid, tids := range byProcess {
		slots <- struct{}{}
		done.Go(func() {
			found, err := readProcess(ctx, pid)
			mu.Lock()
			defer mu.Unlock()
			for _, tid := range tids {
				stack := Stack{Frames: outsideMPI(found[tid])}
				if len(stack.Frames) == 0 {
					stack.Error = cmp.Or(err, errGone).Error()
				}
				all[Thread{pid, tid}] = stack
			}
			<-slots
		})
	}
	done.Wait()
	return all
}

var (
	errGone    = errors.New("the thread has ended")
	errTooLong = errors.New("gdb took too long")
)

// readProcess returns the frames of a process's threads, by the kernel's ids.
func readProcess(ctx context.Context, pid int) (map[int][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, processLimit)
	defer cancel()
	if ctx.Err() != nil {
		return nil, errTooLong
	}
	gdb, err := exec.LookPath("gdb")
	if err != nil {
		return nil, errors.New("gdb is not installed")
	}
	said, complaints := &text{}, &text{}
	cmd := exec.CommandContext(ctx, gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load off",
		"-ex", "set width 0", "-ex", "set print frame-arguments none", "-ex", "set filename-display basename",
		"-p", strconv.Itoa(pid), "-ex", fmt.Sprintf("thread apply all backtrace %d", mostFrames))
	cmd.Stdout, cmd.Stderr = said, complaints
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	runtime.LockOSThread() // gdb gets the signal when the thread ends that has started it
	defer runtime.UnlockOSThread()
	// Who else collects children of this process may collect gdb. What it has said counts.
	if err := cmd.Run(); err != nil && ctx.Err() != nil {
		return nil, errTooLong
	} else if errors.Is(err, exec.ErrWaitDelay) || errors.As(err, new(*fs.PathError)) {
		return nil, err
	}
	found := parse(said.String())
	if len(found) == 0 {
		return nil, refusal(pid, complaints.String())
	}
	return found, nil
}

var refused = regexp.MustCompile(`(?m)^ptrace: (.*?)\.?$`)

// refusal says why gdb has no threads to tell of.
func refusal(pid int, complaints string) error {
	if unix.Kill(pid, 0) == unix.ESRCH {
		return errGone
	}
	if m := refused.FindStringSubmatch(complaints); m != nil {
		return fmt.Errorf("gdb may not attach: %s (ptrace(2))", m[1])
	}
	lines := strings.Split(strings.TrimSpace(complaints), "\n")
	return fmt.Errorf("gdb tells none: %s", cmp.Or(lines[len(lines)-1], "it says nothing"))
}

var (
	threadLine = regexp.MustCompile(`^Thread \d+ \(.*?(?:LWP|process) (\d+)`)
	frameLine  = regexp.MustCompile(`^#\d+ +(?:0x[0-9a-f]+ in )?(.*)$`)
)

// parse reads what gdb says of threads. Lines that are no frames are left out.
func parse(said string) map[int][]string {
	found, thread := map[int][]string{}, 0
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\n")
		if m := threadLine.FindStringSubmatch(line); m != nil {
			thread, _ = strconv.Atoi(m[1])
		} else if m := frameLine.FindStringSubmatch(line); m != nil && thread > 0 && len(found[thread]) < mostFrames {
			found[thread] = append(found[thread], strings.ToValidUTF8(m[1], "?"))
		}
	}
	return found
}

var (
	mpiFrame   = regexp.MustCompile(`^P?MPI_\w+ \(`)
	foreignOne = regexp.MustCompile(` from /\S+$`) // of a library without lines of source
)

// outsideMPI leaves out the frames below the innermost MPI call, unless a function of the program is among them, such as an operation of a
// reduction.
func outsideMPI(frames []string) []string {
	i := slices.IndexFunc(frames, mpiFrame.MatchString)
	if i < 0 || slices.ContainsFunc(frames[:i], func(frame string) bool { return !foreignOne.MatchString(frame) }) {
		return frames
	}
	return frames[i:]
}

// A text keeps the first bytes that are written to it, and takes all.
type text struct{ bytes.Buffer }

func (t *text) Write(p []byte) (int, error) {
	t.Buffer.Write(p[:min(len(p), mostText-t.Len())])
	return len(p), nil
}
