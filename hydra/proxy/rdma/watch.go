// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"os"
	"slices"
	"time"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/ib"
)

const (
	// tick is how often the ports are looked at while ranks run.
	tick = time.Second
	// limit is how long a port may be down before the user is told. A cable that is plugged in again, or a switch that restarts,
	// takes less.
	limit = 10 * time.Second
)

// A portWatch knows since when ports by which ranks send are in trouble.
type portWatch struct {
	ports []string
	since map[sighting]time.Time // what the last look saw, and since when every look has seen it
	told  map[sighting]bool
}

// A sighting is a port in a state other than up.
type sighting struct{ port, state string }

// look returns what the user is to be told now. That is told once: a port that has been down for long, and a port that two
// looks in a row have found gone.
func (w *portWatch) look(now time.Time, stateOf func(port string) string) (news []sighting) {
	since := map[sighting]time.Time{}
	for _, port := range w.ports {
		seen := sighting{port, stateOf(port)}
		if seen.isFine() {
			continue
		}
		first, again := w.since[seen]
		if !again {
			first = now
		}
		since[seen] = first
		lasts := now.Sub(first) >= limit || again && seen.state == ib.Gone
		if lasts && !w.told[seen] {
			w.told[seen] = true
			news = append(news, seen)
		}
	}
	w.since = since
	return news
}

func (s sighting) isFine() bool { return s.state == "up" || s.state == "unknown" }

// newPortWatch watches the ports of ranks that had them when they started.
func newPortWatch(wishes []wish) *portWatch {
	w := &portWatch{told: map[sighting]bool{}}
	for _, wish := range wishes {
		if wish.had && wish.certain {
			w.ports = append(w.ports, wish.Ports...)
		}
	}
	slices.Sort(w.ports)
	w.ports = slices.Compact(w.ports)
	return w
}

// Watch looks at the ports while ranks run. UCX says nothing to ranks that only wait for messages, so they would wait for
// ever. Call unwatch when they have ended.
func (g *Guard) Watch() (unwatch func()) {
	watch := newPortWatch(g.wishes)
	if len(watch.ports) == 0 {
		return func() {}
	}
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		ticks := time.NewTicker(tick)
		defer ticks.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-ticks.C:
				for _, news := range watch.look(now, stateOfPort) {
					g.tell(g.verdict(news), lost(news))
				}
			}
		}
	}()
	return func() { close(done); <-over }
}

func stateOfPort(port string) string { return ib.StateOf(os.DirFS("/sys"), port, ib.Registered) }

// verdict returns the kind of frame that tells of a port. A port that is gone ends the job if ranks need it. A port that is
// down may come back, and does not matter to ranks that do not send.
func (g *Guard) verdict(s sighting) channel.Kind {
	needed := func(w wish) bool {
		return w.had && w.certain && slices.Contains(w.Ports, s.port) && !w.MayMiss(g.hostOf(nil))
	}
	if s.state == ib.Gone && slices.ContainsFunc(g.wishes, needed) {
		return channel.Failed
	}
	return channel.Warned
}
