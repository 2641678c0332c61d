// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/hydra/whereabouts"
)

// fakeSource gives answers, and then an error.
type fakeSource struct {
	jobs []whereabouts.Job
	err  error
}

func (f *fakeSource) Look() (whereabouts.Job, error) {
	if len(f.jobs) == 0 {
		return whereabouts.Job{}, f.err
	}
	job := f.jobs[0]
	f.jobs = f.jobs[1:]
	return job, nil
}

func (f *fakeSource) Close() {}

// someView shows someJob, of which a rank has ended at the next look.
func someView(t *testing.T, more ...whereabouts.Job) *view {
	t.Helper()
	job, _ := someJob()
	s := &session{source: &fakeSource{append([]whereabouts.Job{job}, more...), whereabouts.ErrEnded}}
	require.NoError(t, s.look())
	return newView(s, time.Second, byRank)
}

// press presses keys, and returns what the last of them leads to.
func press(v *view, keys ...tea.Key) (cmd tea.Cmd) {
	for _, key := range keys {
		_, cmd = v.Update(tea.KeyPressMsg(key))
	}
	return cmd
}

func letter(r rune) tea.Key { return tea.Key{Code: r, Text: string(r)} }

func letters(text string) (keys []tea.Key) {
	for _, r := range text {
		keys = append(keys, letter(r))
	}
	return keys
}

func quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	_, is := cmd().(tea.QuitMsg)
	return is
}

func screen(v *view) []string {
	return strings.Split(strings.NewReplacer(inverse, "", plain, "").Replace(v.View().Content), "\n")
}

func TestQuit(t *testing.T) {
	assert.True(t, quits(press(someView(t), letter('q'))))
	assert.True(t, quits(press(someView(t), tea.Key{Code: 'c', Mod: tea.ModCtrl})))
	assert.True(t, quits(press(someView(t), letter('/'), tea.Key{Code: 'c', Mod: tea.ModCtrl})), "while the filter is typed, too")
	assert.False(t, quits(press(someView(t), letter('/'), letter('q'))))
	assert.True(t, someView(t).View().AltScreen)
}

func TestKeys(t *testing.T) {
	v := someView(t)
	assert.Contains(t, screen(v)[3], " in MPI_Recv(source 2")
	press(v, letter('r'))
	assert.Contains(t, screen(v)[3], " in MPI_Barrier(")
	press(v, letter('g'))
	assert.True(t, strings.HasPrefix(screen(v)[4], " 0-1"), screen(v)[4])
	press(v, letter('g'), letter('g'))
	assert.Equal(t, byRank, v.table.by)

	press(v, letters("/OUTSIDE")...)
	assert.Contains(t, screen(v)[23], "filter: OUTSIDE_")
	press(v, tea.Key{Code: tea.KeyBackspace}, tea.Key{Code: tea.KeyEnter})
	assert.Equal(t, "OUTSID", v.table.filter)
	assert.Len(t, v.rows, 1)
	assert.Contains(t, screen(v)[23], `with "OUTSID": 1 row | q quit`)
	press(v, tea.Key{Code: tea.KeyEscape})
	assert.Len(t, v.rows, 3)
	press(v, append(letters("/x"), tea.Key{Code: tea.KeyEscape})...)
	assert.Len(t, v.rows, 3)
	press(v, append(letters("/"+strings.Repeat("long", 100)), tea.Key{Code: tea.KeyEnter})...)
	assert.Len(t, v.table.filter, longestFilter)
	press(v, letters("zZ!\t")...) // of no meaning
	assert.Empty(t, v.rows)
}

// look has the view ask once.
func look(t *testing.T, v *view) (cmd tea.Cmd) {
	t.Helper()
	_, ask := v.Update(due{})
	require.NotNil(t, ask)
	_, cmd = v.Update(ask())
	return cmd
}

// While the view is paused it asks on, so that rates are right afterwards, and shows what it has shown.
func TestPause(t *testing.T) {
	later, _ := someJob()
	later.Elapsed += time.Hour
	v := someView(t, later, later)
	press(v, tea.Key{Code: tea.KeySpace, Text: " "})
	assert.Contains(t, screen(v)[23], "paused")
	before := screen(v)
	look(t, v)
	assert.Equal(t, before, screen(v))
	press(v, letter('r'))
	assert.NotEqual(t, before[3], screen(v)[3], "it can be sorted")
	press(v, tea.Key{Code: tea.KeySpace, Text: " "})
	look(t, v)
	assert.Contains(t, screen(v)[0], "1h1m30s")
}

// At the end of the job, and when the job has another mpiexec, the view ends.
func TestEndOfJob(t *testing.T) {
	v := someView(t)
	assert.True(t, quits(look(t, v)))
	assert.ErrorIs(t, v.err, whereabouts.ErrEnded)

	other, _ := someJob()
	other.Began = other.Began.Add(time.Second)
	v = someView(t, other)
	assert.True(t, quits(look(t, v)))
	assert.ErrorIs(t, v.err, whereabouts.ErrEnded)

	v = someView(t)
	v.session.source.(*fakeSource).err = errors.New("broken")
	assert.True(t, quits(look(t, v)))
	assert.EqualError(t, v.err, "broken")
}

// Whatever the size of the terminal, the screen is not larger, and there is a row.
func TestSmallTerminals(t *testing.T) {
	v := someView(t)
	for height := 1; height <= 30; height++ {
		for _, width := range []int{1, 2, 7, 20, 80, 200} {
			v.Update(tea.WindowSizeMsg{Width: width, Height: height})
			lines := screen(v)
			assert.LessOrEqual(t, len(lines), max(height, 2), "%dx%d", width, height)
			for _, line := range lines {
				assert.LessOrEqual(t, len([]rune(line)), width)
			}
		}
	}
	v.Update(tea.WindowSizeMsg{Width: 80, Height: 6})
	assert.Len(t, screen(v), 6)
	assert.Contains(t, screen(v)[0], "solver (mpiexec 40)")
	assert.Contains(t, screen(v)[1], "RANK HOST")
	assert.Contains(t, screen(v)[5], "q quit")
}

// What has no room is reached by moving.
func TestScroll(t *testing.T) {
	job, _ := manyRanks(100)
	s := &session{source: &fakeSource{[]whereabouts.Job{job}, nil}}
	require.NoError(t, s.look())
	v := newView(s, time.Second, byRank)
	v.Update(tea.WindowSizeMsg{Width: 80, Height: 14}) // ten rows
	first := func() string { return strings.Fields(screen(v)[3])[0] }
	for _, step := range []struct {
		key  rune
		want string
	}{
		{tea.KeyUp, "0"}, {tea.KeyDown, "1"}, {tea.KeyPgDown, "10"}, {tea.KeyPgUp, "1"}, {tea.KeyPgUp, "0"}, {tea.KeyEnd, "90"}, {tea.KeyDown, "90"}, {tea.KeyUp, "89"}, {tea.KeyHome, "0"}, {tea.KeyEnd, "90"},
	} {
		press(v, tea.Key{Code: step.key})
		assert.Equal(t, step.want, first())
	}
	press(v, letter('g'), letter('g'))
	assert.Equal(t, "0-63", first(), "fewer rows: it goes back to those")
}
