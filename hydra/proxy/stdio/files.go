// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
)

// An outFile takes the output of all ranks for which the pattern gives its name.
type outFile struct {
	mu     sync.Mutex
	file   *os.File
	broken bool // an error of it was reported, or it is closed
}

// OpenFiles opens the output files of all writers, each name once, before anything runs.
func (o *Output) OpenFiles(writers []plan.RankSet) error {
	o.files = map[string]*outFile{}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND | unix.O_NONBLOCK // does not wait for a reader of a FIFO
	if o.host.Group == 0 {
		flags |= os.O_TRUNC // spawned ranks append to the files of those that spawned them if the pattern has no %g
	}
	for _, f := range o.fileNames(writers) {
		file, err := os.OpenFile(f.name, flags, 0o666)
		if errors.Is(err, unix.ENXIO) {
			err = fmt.Errorf("nobody reads it (%w)", unix.ENXIO)
		}
		if err != nil {
			return o.fileError(f.first, "open", f.name, err)
		}
		o.files[f.name] = &outFile{file: file}
	}
	return nil
}

type namedFile struct {
	name  string
	first plan.RankSet // the first that writes it
}

// CountFiles returns how many output files there are for all writers.
func (o *Output) CountFiles(writers []plan.RankSet) int { return len(o.fileNames(writers)) }

// fileNames lists the output files of all writers.
func (o *Output) fileNames(writers []plan.RankSet) (files []namedFile) {
	known := map[string]bool{}
	for _, from := range writers {
		for _, stream := range []channel.Kind{channel.Stdout, channel.Stderr} {
			if name := o.fileName(from, stream); name != "" && !known[name] {
				known[name] = true
				files = append(files, namedFile{name, from})
			}
		}
	}
	return files
}

// fileName returns the file of a stream, or "" when it goes to mpiexec or nowhere.
func (o *Output) fileName(from plan.RankSet, stream channel.Kind) string {
	pattern := o.host.Stdio.OutFile
	if stream == channel.Stderr {
		pattern = o.host.Stdio.ErrFile
	}
	if pattern == "" || !o.host.Stdio.From.HoldAny(from.Ranks) {
		return ""
	}
	at := o.origin(from)
	at.Seconds = 0 // files are opened as the job begins
	name := pattern.Expand(at)
	if !filepath.IsAbs(name) {
		name = filepath.Join(o.host.Dir, name)
	}
	return filepath.Clean(name)
}

// fileError names rank, host and file of an error.
func (o *Output) fileError(from plan.RankSet, verb, name string, err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("%s output file %s of %s on %s: %w", verb, name, from.Name(), o.host.Name, err)
}

// writeFile writes whole lines. After an error, which ends the job, and after CloseFiles nothing more is written.
func (o *Output) writeFile(from plan.RankSet, name string, text []byte) {
	f := o.files[name]
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken {
		return
	}
	if _, err := f.file.Write(text); err != nil {
		f.broken = true
		o.conn.Send(channel.Failed, 0, []byte(o.fileError(from, "write", name, err).Error()))
	}
}

// CloseFiles closes the output files. Some file systems report only at close that they are full.
func (o *Output) CloseFiles() {
	for _, name := range slices.Sorted(maps.Keys(o.files)) {
		f := o.files[name]
		f.mu.Lock()
		if err := f.file.Close(); err != nil && !f.broken {
			o.conn.Send(channel.Failed, 0, fmt.Appendf(nil, "close output file %s on %s: %v", name, o.host.Name, err))
		}
		f.broken = true
		f.mu.Unlock()
	}
}
