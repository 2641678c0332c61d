// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func written(t testing.TB, p *Profile) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, p.Write(&out))
	return out.Bytes()
}

func TestReadReturnsWhatWasWritten(t *testing.T) {
	for _, ranks := range []int{4, 64} {
		p := madeUp(ranks, 2, 2)
		got, err := Read(bytes.NewReader(written(t, p)))
		require.NoError(t, err)
		assert.Equal(t, p, got)
	}
}

func TestReadRefuses(t *testing.T) {
	good := func() *Profile { return madeUp(4, 2, 2) }
	for want, change := range map[string]func(p *Profile){
		"format 2, and this tpsl reads format 1":                  func(p *Profile) { p.Format = 2 },
		"has no ranks":                                            func(p *Profile) { p.Ranks = nil },
		"job: elapsed: a time of -1 s cannot be":                  func(p *Profile) { p.Job.Elapsed = -1 },
		"job: a text of 70000 bytes is too long":                  func(p *Profile) { p.Job.Command = strings.Repeat("x", 70000) },
		"notes: a text of 70000 bytes is too long":                func(p *Profile) { p.Notes[0] = strings.Repeat("x", 70000) },
		"a number of -3 cannot be":                                func(p *Profile) { p.Job.Processes = -3 },
		"host 1: clock_error: a time of -2 s cannot be":           func(p *Profile) { p.Hosts[1].ClockError = -2 },
		"host 1: cpus: a number of -8 cannot be":                  func(p *Profile) { p.Hosts[1].CPUs = -8 },
		"place 3: a number of -1 cannot be":                       func(p *Profile) { p.Places[3].Line = -1 },
		"communicator 0: a number of -4 cannot be":                func(p *Profile) { p.Communicators[0].Size = -4 },
		"communicator 1: member 4, where there are 4":             func(p *Profile) { p.Communicators[1].Members = "0,4" },
		`communicator 1: members "1" are no ranges that count up`: func(p *Profile) { p.Communicators[1].Members = "0-1,1" },
		`communicator 1: members "" are no ranges that count up`:  func(p *Profile) { p.Communicators[1].Members = "0," },
		"rank 3: host 2, where there are 2":                       func(p *Profile) { p.Ranks[3].Host = 2 },
		"rank 3: host -1, where there are 2":                      func(p *Profile) { p.Ranks[3].Host = -1 },
		"rank 1: a number of -1 cannot be":                        func(p *Profile) { p.Ranks[1].Process = -1 },
		"rank 1: group 0 has had a rank 0 already":                func(p *Profile) { p.Ranks[1].Rank = 0 },
		"rank 3: process 1 is on host 1, and on host 0":           func(p *Profile) { p.Ranks[3].Host = 0 },
		"rank 0: a time of 1e+300 s cannot be":                    func(p *Profile) { p.Ranks[0].MPI = 1e300 },
		"rank 0: calls 1: place 9, where there are 9":             func(p *Profile) { p.Ranks[0].Calls[1].Place = 9 },
		"rank 0: calls 1: place -2, where there are 9":            func(p *Profile) { p.Ranks[0].Calls[1].Place = None },
		"rank 0: calls 1: communicator 3, where there are 3":      func(p *Profile) { p.Ranks[0].Calls[1].Communicator = 3 },
		"rank 0: calls 1: communicator -3, where there are 3":     func(p *Profile) { p.Ranks[0].Calls[1].Communicator = -3 },
		"rank 0: calls 2: a number of -7 cannot be":               func(p *Profile) { p.Ranks[0].Calls[2].Bytes = -7 },
		"rank 0: calls 2: a time of -7 s cannot be":               func(p *Profile) { p.Ranks[0].Calls[2].Max = -7 },
		"rank 0: calls 4: late: a time of 1e+13 s cannot be":      func(p *Profile) { *p.Ranks[0].Calls[4].Late = -1e13 },
		"rank 2: peer 0: rank 4, where there are 4":               func(p *Profile) { p.Ranks[2].Peers[0].Rank = 4 },
		"rank 2: peer 0: a number of -5 cannot be":                func(p *Profile) { p.Ranks[2].Peers[0].Got.Bytes = -5 },
		"rank 2: spread 0: communicator 3, where there are 3":     func(p *Profile) { p.Ranks[2].Spread[0].Communicator = 3 },
		"rank 2: spread 0: communicator -1, where there are 3":    func(p *Profile) { p.Ranks[2].Spread[0].Communicator = Other },
		"rank 2: spread 0: a number of -1 cannot be":              func(p *Profile) { p.Ranks[2].Spread[0].Count = -1 },
		`rank 2: size 1: unknown way "by pigeon"`:                 func(p *Profile) { p.Ranks[2].Sizes[1].Way = "by pigeon" },
		"rank 2: size 1: a number of -64 cannot be":               func(p *Profile) { p.Ranks[2].Sizes[1].From = -64 },
		"rank 2: size 1: a number of 1152921504606846977":         func(p *Profile) { p.Ranks[2].Sizes[1].Bytes = maxAmount + 1 },
	} {
		if !strings.HasSuffix(want, "6977") {
			want += "$"
		}
		p := good()
		change(p)
		got, err := Read(bytes.NewReader(written(t, p)))
		assert.Nil(t, got, want)
		require.Error(t, err, want)
		assert.Regexp(t, "^"+strings.ReplaceAll(want, "+", `\+`), err.Error())
		for _, use := range []func(io.Writer) error{p.Text, p.Page, func(w io.Writer) error { return Compare(good(), p, w) }} {
			assert.ErrorContains(t, use(io.Discard), err.Error(), "what cannot be read is not shown")
		}
	}
}

func TestReadRefusesOtherFiles(t *testing.T) {
	good := string(written(t, madeUp(4, 2, 2)))
	for text, want := range map[string]string{
		"":                     "empty: the job was ended before its profile was written",
		" \n":                  "empty: the job was ended before its profile was written",
		good[:len(good)/2]:     "cut off: the file ends in the middle of the profile",
		good + good:            "not a profile: more follows behind byte ",
		"{}":                   "format 0, and this tpsl reads format 1",
		"[1]":                  "not a profile: a array where the whole should be a profile.Profile",
		"\x7fELF":              "not a profile: byte 1: invalid character",
		`{"format":"one"}`:     "not a profile: a string where format should be a int",
		`{"format":1e999}`:     "not a profile: a number 1e999 where format should be a int",
		`{"ranks":[{"mpi":""}`: "cut off",
	} {
		p, err := Read(strings.NewReader(text))
		assert.Nil(t, p)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want)
		assert.NotContains(t, err.Error(), "\n")
	}
}

// A source without an end is refused after so many bytes.
func TestReadEnds(t *testing.T) {
	_, err := readUpTo(1<<20, spaces{})
	assert.EqualError(t, err, "larger than 1.00 MiB")
	good := written(t, madeUp(4, 2, 2))
	_, err = readUpTo(int64(len(good)), bytes.NewReader(good))
	assert.NoError(t, err)
	_, err = readUpTo(int64(len(good))-1, bytes.NewReader(good))
	assert.ErrorContains(t, err, "larger than ")
}

type spaces struct{}

func (spaces) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

type broken struct{ error }

func (b broken) Read([]byte) (int, error)  { return 0, b.error }
func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestErrorsOfFiles(t *testing.T) {
	full := broken{errors.New("no space left on device")}
	_, err := Read(full)
	require.ErrorIs(t, err, full.error)
	p := madeUp(4, 2, 2)
	for _, use := range []func(io.Writer) error{p.Write, p.Text, p.Page, func(w io.Writer) error { return Compare(p, p, w) }} {
		assert.ErrorIs(t, use(full), full.error)
	}
}

// Read returns an error if and only if it returns no profile, the error is one line, and what it returns can be written, read, shown and compared.
func FuzzRead(f *testing.F) {
	f.Add(written(f, madeUp(4, 2, 2)))
	f.Add(written(f, ranksOf(Rank{Elapsed: 1}, Rank{Elapsed: 2, MPI: 3, Calls: []Calls{reduce(3)}})))
	f.Add([]byte(`{"format":1,"hosts":[{}],"ranks":[{"counted":true,"mpi":1e12}],"communicators":[{}]}`))
	f.Add([]byte(`{"format":1,"job":{"command":"\u001b[2J<script>"},"hosts":[{"name":"</script>"}],"ranks":[{}],"notes":["\n"]}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		p, err := Read(bytes.NewReader(input))
		if err != nil {
			assert.Nil(t, p)
			assert.NotContains(t, err.Error(), "\n")
			return
		}
		again, err := Read(bytes.NewReader(written(t, p)))
		require.NoError(t, err)
		a, b := mustJSON(t, p), mustJSON(t, again)
		assert.Equal(t, a, b)
		var page strings.Builder
		require.NoError(t, p.Text(io.Discard))
		require.NoError(t, Compare(p, again, io.Discard))
		require.NoError(t, p.Page(&page))
		assert.NotContains(t, page.String(), "ZgotmplZ", "the template trusts what it shows")
	})
}

func mustJSON(t *testing.T, p *Profile) string {
	text, err := json.Marshal(p)
	require.NoError(t, err)
	return string(text)
}
