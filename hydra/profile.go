// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/internal/version"
	"github.com/tpsl/tpsl/profile"
)

// profileFiles are what a profile is written to. They are made before anything runs: an error must not show only at the end of a long job.
type profileFiles struct{ data, page *os.File }

func (j *Job) openProfile() (err error) {
	if j.plan.Profile == "" {
		return nil
	}
	f := &j.profileFiles
	if f.data, err = os.Create(j.plan.Profile + ".json"); err == nil {
		f.page, err = os.Create(j.plan.Profile + ".html")
	}
	if err != nil {
		return fmt.Errorf("option -profile: %w", err)
	}
	return nil
}

// counted takes what a rank has counted.
func (j *Job) counted(e event) {
	var told channel.Counts
	if err := e.frame.Value(&told); err != nil || len(told.Places) != len(told.Rows) {
		j.garbled(e.link, errors.Join(err, errors.New("counts of calls are not whole")))
		return
	}
	e.link.cpus = told.CPUs
	j.told = append(j.told, profile.Told{Group: e.link.host.Group, Counts: told.Counts, Places: told.Places, Ahead: e.link.clock.ahead})
}

// writeProfile writes the profile, at the end of the job.
func (j *Job) writeProfile() {
	f := j.profileFiles
	if f.page == nil {
		return
	}
	p := j.profile()
	for _, file := range []struct {
		to    *os.File
		write func(io.Writer) error
	}{{f.data, p.Write}, {f.page, p.Page}} {
		if err := errors.Join(file.write(file.to), file.to.Close()); err != nil {
			j.outcome.fail(fmt.Sprintf("write profile: %v", err))
		}
	}
}

// profile puts together what is known of the job and of its ranks.
func (j *Job) profile() *profile.Profile {
	p := &profile.Profile{Job: profile.Job{
		Command: j.commandLine(), Version: version.Version, Began: j.began, Elapsed: time.Since(j.began).Seconds(), ExitCode: j.outcome.Code,
	}}
	var ranks []profile.Rank
	for _, w := range j.worlds {
		first := len(ranks)
		ranks = append(ranks, make([]profile.Rank, w.plan.Size)...)
		for _, link := range w.links {
			p.Hosts = append(p.Hosts, profile.Host{Name: link.host.Name, CPUs: link.cpus, ClockError: link.clock.doubt().Seconds()})
			for _, set := range link.placement.Sets {
				for _, rank := range set.Ranks {
					ranks[first+rank] = profile.Rank{Group: w.index, Rank: rank, Host: len(p.Hosts) - 1, Process: p.Job.Processes}
				}
				p.Job.Processes++
			}
		}
	}
	p.Job.Layout = layoutText(len(ranks), len(p.Hosts), p.Job.Processes)
	profile.Collect(p, ranks, j.told)
	p.Notes = append(p.Notes, notesOn(p)...)
	return p
}

func (j *Job) commandLine() string {
	var programs []string
	for _, program := range j.plan.Hosts[0].Programs {
		programs = append(programs, strings.Join(program.Args, " "))
	}
	return strings.Join(programs, " : ")
}

func layoutText(ranks, hosts, processes int) string {
	return fmt.Sprintf("%s in %s on %s", plural(ranks, "rank"), plural(processes, "process"), plural(hosts, "host"))
}

func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"):
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// notesOn says what is missing or not exact, beside ranks of which nothing is known or that have not ended: the profile tells these by itself.
func notesOn(p *profile.Profile) []string {
	crowded := 0
	for _, r := range p.Ranks {
		if r.Counted && hasOther(r) {
			crowded++
		}
	}
	if crowded == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Of %s the tables were full: calls from further places, or to further ranks, are told as other.", plural(crowded, "rank"))}
}

func hasOther(r profile.Rank) bool {
	for _, c := range r.Calls {
		if c.Place == profile.Other {
			return true
		}
	}
	return false
}
