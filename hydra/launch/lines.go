// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
)

// LinesArg makes a proxy speak in lines: srun sends its input to all tasks, and mixes their outputs by lines.
const LinesArg = "lines"

// A line has the task that it is for or from, followed by text in base64 or by endMark. srun does not split lines of up to
// 1,024 bytes.
const (
	lineBytes = 720 // bytes of the stream in one line
	endMark   = "."
	taskMark  = "+tpsl-task" // begins a task's first line: task, node
)

// A lineWriter sends a stream in lines.
type lineWriter struct {
	task int
	out  *sharedWriter
}

// A sharedWriter is the stream to which several lineWriters write.
type sharedWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *sharedWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(b)
}

// Write implements io.Writer.
func (w *lineWriter) Write(b []byte) (int, error) {
	var text []byte
	for rest := b; len(rest) > 0; {
		part := rest[:min(len(rest), lineBytes)]
		rest = rest[len(part):]
		text = fmt.Appendf(text, "%d %s\n", w.task, base64.StdEncoding.EncodeToString(part))
	}
	if _, err := w.out.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close implements io.Closer: it ends the stream, not what carries it.
func (w *lineWriter) Close() error {
	_, err := fmt.Fprintf(w.out, "%d %s\n", w.task, endMark)
	return err
}

// A lineReader reads the stream of one task.
type lineReader struct {
	task int
	in   *bufio.Reader
	rest []byte
	over bool
}

// Read implements io.Reader.
func (r *lineReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.over {
			return 0, io.EOF
		}
		line, err := r.in.ReadString('\n')
		if err != nil {
			return 0, io.EOF // srun is gone
		}
		task, text, err := parseLine(line)
		if err != nil || task != r.task {
			continue // a line of another task
		}
		r.rest, r.over = text, text == nil
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// parseLine returns what a line carries, nil for the end of the stream.
func parseLine(line string) (task int, text []byte, err error) {
	number, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if task, err = strconv.Atoi(number); err != nil || rest == endMark {
		return task, nil, err
	}
	text, err = base64.StdEncoding.DecodeString(rest)
	return task, text, err
}

// Lines makes the streams of a Slurm task out of its standard streams.
func Lines(in io.Reader, out io.Writer) (io.Reader, io.WriteCloser, error) {
	task, err := strconv.Atoi(os.Getenv("SLURM_PROCID"))
	if err != nil {
		return nil, nil, fmt.Errorf("SLURM_PROCID: %w", err)
	}
	if _, err := fmt.Fprintf(out, "%s %d %s\n", taskMark, task, os.Getenv("SLURMD_NODENAME")); err != nil {
		return nil, nil, err
	}
	return &lineReader{task: task, in: bufio.NewReader(in)}, &lineWriter{task, &sharedWriter{out: out}}, nil
}
