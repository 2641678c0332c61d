// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/tpsl/tpsl/internal/ranges"
)

const (
	// maxFile is the size of the longest file that is read, in bytes.
	maxFile = 1 << 30
	// Greater times and amounts cannot be: 30,000 years, and 1 EiB.
	maxSeconds = 1e12
	maxAmount  = 1 << 60
	// maxText is the length of the longest name or path, in bytes.
	maxText = 1 << 16
)

// Write writes the profile as a file that Read reads.
func (p *Profile) Write(w io.Writer) error {
	return json.NewEncoder(w).Encode(p)
}

// Read reads what Write has written, and nothing behind it. It refuses a profile whose indices lead nowhere and whose numbers cannot be.
// Its errors are single lines that name what is wrong, and not the file.
func Read(r io.Reader) (*Profile, error) { return readUpTo(maxFile, r) }

// readUpTo is Read for files of at most so many bytes.
func readUpTo(most int64, r io.Reader) (*Profile, error) {
	limited := &io.LimitedReader{R: r, N: most + 1}
	p, err := decode(json.NewDecoder(limited))
	if limited.N <= 0 {
		return nil, fmt.Errorf("larger than %s", size(float64(most)))
	}
	if err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return p, nil
}

func decode(d *json.Decoder) (*Profile, error) {
	var p Profile
	if err := d.Decode(&p); err != nil {
		return nil, plain(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("not a profile: more follows behind byte %d", d.InputOffset())
	}
	return &p, nil
}

// plain says what is wrong with a text in the reader's words.
func plain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("empty: the job was ended before its profile was written")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("cut off: the file ends in the middle of the profile")
	case errors.As(err, &kind):
		return fmt.Errorf("not a profile: a %s where %s should be a %s", kind.Value, named(kind.Field), kind.Type)
	case errors.As(err, &syntax):
		return fmt.Errorf("not a profile: byte %d: %w", syntax.Offset, err)
	}
	return err
}

func named(field string) string {
	if field == "" {
		return "the whole"
	}
	return field
}

// check returns an error if p is not what Profile says.
func (p *Profile) check() error {
	if p.Format != Format {
		return fmt.Errorf("format %d, and this tpsl reads format %d", p.Format, Format)
	}
	if len(p.Ranks) == 0 {
		return errors.New("has no ranks")
	}
	for _, part := range []func() error{p.checkJob, p.checkHosts, p.checkPlaces, p.checkCommunicators, p.checkRanks} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Profile) checkJob() error {
	j := &p.Job
	if err := texts(p.Notes...); err != nil {
		return fmt.Errorf("notes: %w", err)
	}
	if err := texts(j.Command, j.Layout, j.Version, j.Library); err != nil {
		return fmt.Errorf("job: %w", err)
	}
	if err := times(j.Elapsed); err != nil {
		return fmt.Errorf("job: elapsed: %w", err)
	}
	return amounts(int64(j.Processes))
}

func (p *Profile) checkHosts() error {
	for i := range p.Hosts {
		if err := texts(p.Hosts[i].Name); err != nil {
			return fmt.Errorf("host %d: %w", i, err)
		}
		if err := amounts(int64(p.Hosts[i].CPUs)); err != nil {
			return fmt.Errorf("host %d: cpus: %w", i, err)
		}
		if err := times(p.Hosts[i].ClockError); err != nil {
			return fmt.Errorf("host %d: clock_error: %w", i, err)
		}
	}
	return nil
}

func (p *Profile) checkPlaces() error {
	for i := range p.Places {
		c := &p.Places[i]
		if err := first(texts(c.File, c.Function, c.Object), amounts(int64(c.Line))); err != nil {
			return fmt.Errorf("place %d: %w", i, err)
		}
	}
	return nil
}

func (p *Profile) checkCommunicators() error {
	for i := range p.Communicators {
		c := &p.Communicators[i]
		if err := first(texts(c.Name), amounts(int64(c.Size))); err != nil {
			return fmt.Errorf("communicator %d: %w", i, err)
		}
		if err := p.checkMembers(c.Members); err != nil {
			return fmt.Errorf("communicator %d: %w", i, err)
		}
	}
	return nil
}

// checkMembers wants ranges of ranks that count up, so that no rank is a member twice.
func (p *Profile) checkMembers(members string) error {
	next := 0
	for part := range strings.SplitSeq(members, ",") {
		if members == "" {
			return nil
		}
		from, last, ok := ranges.Parse(part)
		if !ok || from < next {
			return fmt.Errorf("members %.40q are no ranges that count up", part)
		}
		if err := index("member", last, len(p.Ranks), 0); err != nil {
			return err
		}
		next = last + 1
	}
	return nil
}

func (p *Profile) checkRanks() error {
	type name struct{ group, rank int }
	seen, hosts := make(map[name]bool, len(p.Ranks)), map[int]int{}
	for i := range p.Ranks {
		r := &p.Ranks[i]
		if err := p.checkRank(r); err != nil {
			return fmt.Errorf("rank %d: %w", i, err)
		}
		if seen[name{r.Group, r.Rank}] {
			return fmt.Errorf("rank %d: group %d has had a rank %d already", i, r.Group, r.Rank)
		}
		seen[name{r.Group, r.Rank}] = true
		if host, known := hosts[r.Process]; known && host != r.Host {
			return fmt.Errorf("rank %d: process %d is on host %d, and on host %d", i, r.Process, host, r.Host)
		}
		hosts[r.Process] = r.Host
	}
	return nil
}

func (p *Profile) checkRank(r *Rank) error {
	if err := index("host", r.Host, len(p.Hosts), 0); err != nil {
		return err
	}
	if err := amounts(int64(r.Group), int64(r.Rank), int64(r.Process)); err != nil {
		return err
	}
	if err := times(r.Elapsed, r.MPI); err != nil {
		return err
	}
	for i := range r.Calls {
		if err := p.checkCalls(&r.Calls[i]); err != nil {
			return fmt.Errorf("calls %d: %w", i, err)
		}
	}
	for i := range r.Peers {
		if err := p.checkPeer(&r.Peers[i]); err != nil {
			return fmt.Errorf("peer %d: %w", i, err)
		}
	}
	for i := range r.Spread {
		s := &r.Spread[i]
		if err := first(index("communicator", s.Communicator, len(p.Communicators), 0), amounts(s.Count, s.Bytes)); err != nil {
			return fmt.Errorf("spread %d: %w", i, err)
		}
	}
	for i := range r.Sizes {
		if err := checkSize(&r.Sizes[i]); err != nil {
			return fmt.Errorf("size %d: %w", i, err)
		}
	}
	return nil
}

func (p *Profile) checkCalls(c *Calls) error {
	if err := texts(c.Function); err != nil {
		return err
	}
	if err := index("place", c.Place, len(p.Places), Other); err != nil {
		return err
	}
	if err := index("communicator", c.Communicator, len(p.Communicators), None); err != nil {
		return err
	}
	if err := amounts(c.Calls, c.Bytes); err != nil {
		return err
	}
	if err := times(c.Time, c.Min, c.Max); err != nil {
		return err
	}
	if c.Late != nil {
		if err := times(math.Abs(*c.Late)); err != nil {
			return fmt.Errorf("late: %w", err)
		}
	}
	return nil
}

func (p *Profile) checkPeer(peer *Peer) error {
	if err := index("rank", peer.Rank, len(p.Ranks), Other); err != nil {
		return err
	}
	for _, a := range []Amount{peer.Sent, peer.Received, peer.Put, peer.Got, peer.Collective} {
		if err := amounts(a.Count, a.Bytes); err != nil {
			return err
		}
	}
	return nil
}

func checkSize(s *Size) error {
	switch s.Way {
	case Messages, OneSided, Collective:
	default:
		return fmt.Errorf("unknown way %.40q", s.Way)
	}
	return amounts(s.From, s.Count, s.Bytes)
}

// first returns the first error that there is.
func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// index returns an error unless lowest <= i < n.
func index(what string, i, n, lowest int) error {
	if i < lowest || i >= n {
		return fmt.Errorf("%s %d, where there are %d", what, i, n)
	}
	return nil
}

func times(seconds ...float64) error {
	for _, s := range seconds {
		if !(s >= 0 && s <= maxSeconds) {
			return fmt.Errorf("a time of %g s cannot be", s)
		}
	}
	return nil
}

func amounts(numbers ...int64) error {
	for _, n := range numbers {
		if n < 0 || n > maxAmount {
			return fmt.Errorf("a number of %d cannot be", n)
		}
	}
	return nil
}

func texts(all ...string) error {
	for _, text := range all {
		if len(text) > maxText {
			return fmt.Errorf("a text of %d bytes is too long", len(text))
		}
	}
	return nil
}
