// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tpsl/tpsl/hydra/whereabouts"
)

// longestFilter bounds what is typed, in characters.
const longestFilter = 40

// A view shows a job in a terminal. It implements tea.Model.
type view struct {
	session *session
	every   time.Duration
	table   table
	err     error // why it ends; nil: the user wants that

	about         [2]string
	rows          []row // in order
	shown         []column
	widths        []int
	width, height int
	offset        int // of the first row that is shown
	paused        bool
	typing        bool // the filter
}

// Messages to the view.
type (
	due  struct{} // it is time to ask
	told struct {
		job   whereabouts.Job
		rates map[key]rate
		err   error
	}
)

func newView(s *session, every time.Duration, by grouping) *view {
	v := &view{session: s, every: every, table: newTable(by), width: 80, height: 24}
	v.show(s.latest())
	return v
}

// Init implements tea.Model.
func (v *view) Init() tea.Cmd { return v.wait() }

func (v *view) wait() tea.Cmd { return tea.Tick(v.every, func(time.Time) tea.Msg { return due{} }) }

// Update implements tea.Model.
func (v *view) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		v.width, v.height = msg.Width, msg.Height
		v.arrange()
	case due:
		return v, func() tea.Msg {
			err := v.session.look()
			job, rates := v.session.latest()
			return told{job, rates, err}
		}
	case told:
		if v.err = msg.err; v.err != nil {
			return v, tea.Quit
		}
		if !v.paused {
			v.show(msg.job, msg.rates)
		}
		return v, v.wait()
	case tea.KeyPressMsg:
		if v.typing && msg.String() != "ctrl+c" {
			v.typed(msg)
			return v, nil
		}
		return v, v.pressed(msg.String())
	}
	return v, nil
}

// show takes an answer of mpiexec.
func (v *view) show(job whereabouts.Job, rates map[key]rate) {
	v.table.job, v.table.rates = job, rates
	v.about = v.table.heading()
	v.arrange()
}

// arrange puts the rows in order and the columns side by side, and stays at a row that is there.
func (v *view) arrange() {
	v.rows = v.table.rows()
	v.shown, v.widths = layout(v.rows, v.width)
	v.scroll(0)
}

// pressed handles a key, but while the filter is typed.
func (v *view) pressed(key string) tea.Cmd {
	page := max(v.room()-1, 1)
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "space", " ":
		v.paused = !v.paused
	case "g":
		v.table.by = (v.table.by + 1) % groupings
		v.arrange()
	case "/":
		v.typing, v.table.filter = true, ""
		v.arrange()
	case "esc":
		v.table.filter = ""
		v.arrange()
	case "down":
		v.scroll(1)
	case "up":
		v.scroll(-1)
	case "pgdown":
		v.scroll(page)
	case "pgup":
		v.scroll(-page)
	case "home":
		v.offset = 0
	case "end":
		v.scroll(len(v.rows))
	default:
		if v.table.sortBy(key) {
			v.offset = 0
			v.arrange()
		}
	}
	return nil
}

// typed handles a key while the filter is typed.
func (v *view) typed(key tea.KeyPressMsg) {
	filter := []rune(v.table.filter)
	switch key.String() {
	case "enter":
		v.typing = false
	case "esc":
		v.typing, filter = false, nil
	case "backspace":
		filter = filter[:max(len(filter)-1, 0)]
	default:
		filter = append(filter, []rune(key.Text)...)
	}
	v.table.filter = string(filter[:min(len(filter), longestFilter)])
	v.arrange()
}

// scroll moves what is shown by rows, as far as there are any.
func (v *view) scroll(by int) {
	v.offset = max(min(v.offset+by, len(v.rows)-v.room()), 0)
}

// heights returns how many lines of the heading and of the foot a terminal of the height has room for beside some rows.
func (v *view) heights() (heading, foot int) {
	switch {
	case v.height >= 8:
		return 2, 1
	case v.height >= 5:
		return 1, 1
	}
	return 0, 0
}

// room is how many rows are shown.
func (v *view) room() int {
	heading, foot := v.heights()
	return max(v.height-heading-1-foot, 1)
}

// View implements tea.Model.
func (v *view) View() tea.View {
	shown := tea.NewView(strings.Join(v.lines(), "\n"))
	shown.AltScreen = true
	return shown
}

const inverse, plain = "\x1b[7m", "\x1b[m"

// lines returns what is on the screen.
func (v *view) lines() (lines []string) {
	heading, foot := v.heights()
	for _, text := range v.about[:heading] {
		lines = append(lines, v.cut(text))
	}
	titles := v.cut(titleLine(v.shown, v.widths))
	lines = append(lines, inverse+titles+strings.Repeat(" ", max(v.width-len(titles), 0))+plain)
	for _, r := range v.rows[v.offset:min(v.offset+v.room(), len(v.rows))] {
		lines = append(lines, v.cut(rowLine(v.shown, v.widths, r)))
	}
	for foot > 0 && len(lines) < v.height-foot {
		lines = append(lines, "")
	}
	if foot > 0 {
		lines = append(lines, v.cut(v.foot()))
	}
	return lines
}

func (v *view) cut(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), v.width)])
}

// foot says what keys do, and how the table is shown.
func (v *view) foot() string {
	if v.typing {
		return "filter: " + v.table.filter + "_  (numbers of ranks, or a part of host or state)"
	}
	keys := "q quit  space pause  / filter  g group  sort "
	for _, c := range columns {
		keys += c.key
	}
	text := keys + " | " + groupingNames[v.table.by] + " by " + v.table.sort
	if v.table.filter != "" {
		text = fmt.Sprintf("with %q: %s | %s", v.table.filter, count(len(v.rows), "row"), text)
	}
	if v.paused {
		text = "paused | " + text
	}
	return text
}
