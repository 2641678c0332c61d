// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
)

// An outFile takes the output of the ranks for which a pattern gives its name.
type outFile struct {
	mu     sync.Mutex
	file   *os.File
	broken bool // an error of it was reported
}

// openFiles opens the output files of every rank that has them, each name once, before anything runs.
func (p *proxy) openFiles(starts []start) error {
	p.files = map[string]*outFile{}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if p.host.Group == 0 {
		flags |= os.O_TRUNC // what ranks spawn adds to their files where the pattern has no %g
	}
	for _, f := range p.outputFiles(starts) {
		file, err := os.OpenFile(f.name, flags, 0o666)
		if err != nil {
			return p.fileError(f.first, "open", f.name, err)
		}
		p.files[f.name] = &outFile{file: file}
	}
	return nil
}

type namedFile struct {
	name  string
	first plan.RankSet // of those that write it
}

// outputFiles lists the output files of all ranks.
func (p *proxy) outputFiles(starts []start) (files []namedFile) {
	known := map[string]bool{}
	for _, s := range starts {
		for _, from := range outputsOf(s) {
			for _, stream := range []channel.Kind{channel.Stdout, channel.Stderr} {
				if name := p.fileName(from, stream); name != "" && !known[name] {
					known[name] = true
					files = append(files, namedFile{name, from})
				}
			}
		}
	}
	return files
}

// outputsOf returns the ranks that have an output of their own: each one in private mode, else the set.
func outputsOf(s start) []plan.RankSet {
	if !s.way.isPrivate() {
		return []plan.RankSet{s.set}
	}
	var own []plan.RankSet
	for _, rank := range s.set.Ranks {
		own = append(own, s.set.Only(rank))
	}
	return own
}

// fileName returns the file of a stream, or "" when it goes to mpiexec or nowhere.
func (p *proxy) fileName(from plan.RankSet, stream channel.Kind) string {
	pattern := p.host.Stdio.OutFile
	if stream == channel.Stderr {
		pattern = p.host.Stdio.ErrFile
	}
	if pattern == "" || !p.host.Stdio.From.HoldAny(from.Ranks) {
		return ""
	}
	at := p.place(from)
	at.Seconds = 0 // files are opened as the job begins
	name := pattern.Expand(at)
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.host.Dir, name)
	}
	return filepath.Clean(name)
}

// fileError names rank, host and file of an error.
func (p *proxy) fileError(from plan.RankSet, verb, name string, err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("%s output file %s of %s on %s: %w", verb, name, from.Name(), p.host.Name, err)
}

// writeFile writes whole lines. After an error, which ends the job, nothing more is written.
func (p *proxy) writeFile(from plan.RankSet, name string, text []byte) {
	f := p.files[name]
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken {
		return
	}
	if _, err := f.file.Write(text); err != nil {
		f.broken = true
		p.conn.Send(channel.Failed, 0, []byte(p.fileError(from, "write", name, err).Error()))
	}
}

// closeFiles ends the output files: some file systems tell only now that they are full.
func (p *proxy) closeFiles() {
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		f := p.files[name]
		if err := f.file.Close(); err != nil && !f.broken {
			p.conn.Send(channel.Failed, 0, fmt.Appendf(nil, "close output file %s on %s: %v", name, p.host.Name, err))
		}
	}
}
