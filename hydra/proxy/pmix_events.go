// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tpsl/tpsl/hydra/channel"
)

var errHelperGone = errors.New("its helper lib/tpsl/pmix ended")

// await reads the settings of all ranks, which end with the line "ready".
func (x *pmix) await() error {
	for {
		line, err := x.lines.ReadString('\n')
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("its helper lib/tpsl/pmix did not start within %v", pmixLimit)
		}
		if err != nil {
			return x.said.explain(errHelperGone, "libpmix.so.2", "it needs the package libpmix2")
		}
		verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch verb {
		case "env":
			first, setting, _ := strings.Cut(rest, " ")
			if rank, err := strconv.Atoi(first); err == nil {
				x.env[rank] = append(x.env[rank], setting)
			}
		case "error":
			return errors.New(rest)
		case "ready":
			x.said.late.Store(true)
			for rank := range x.env {
				x.env[rank] = append(x.env[rank], nativeLaunch)
			}
			return x.output.SetReadDeadline(time.Time{})
		}
	}
}

// servePMIx passes on what the helper tells of the ranks. Without it they would wait for each other for ever.
func (p *proxy) servePMIx() {
	defer close(p.pmix.ended)
	why := errHelperGone
	for {
		line, err := p.pmix.lines.ReadString('\n')
		if err != nil {
			break
		}
		verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		first, more, _ := strings.Cut(rest, " ")
		if rank, err := strconv.Atoi(first); verb == "error" {
			why = errors.New(rest)
		} else if err == nil && p.pmix.env[rank] != nil {
			p.pmixEvent(verb, rank, more)
		} else {
			p.pmixCall(verb, strings.Fields(rest))
		}
	}
	if !p.pmix.closed.Load() {
		p.conn.Send(channel.Failed, 0, fmt.Appendf(nil, "serve PMIx on %s: %v", p.host.Name, why))
		p.end()
	}
}

func (p *proxy) pmixEvent(verb string, rank int, rest string) {
	switch verb {
	case "connected":
		p.Initialized(rank)
	case "finalized":
		p.Finalized(rank)
		if !p.pmix.gone[rank] {
			p.pmix.gone[rank] = true
			p.connectedLeft(rank)
		}
	case "abort":
		status, text, _ := strings.Cut(rest, " ")
		code, err := strconv.Atoi(status)
		if err != nil {
			code = 1
		}
		p.conn.SendValue(channel.Aborted, channel.Abort{Rank: rank, Code: code, Text: text, Unsaid: true})
	}
}

// close ends the helper, unless the sweep is faster.
func (x *pmix) close() {
	if x != nil {
		x.closed.Store(true)
		x.gather.Close()
		x.stdin.Close()
	}
}

// drain waits until all that ranks have logged is on its way. Preconditions: nothing of the helper runs any more.
func (x *pmix) drain() {
	if x != nil {
		<-x.ended
		<-x.shown
	}
}

// remove removes what the helper and its clients left. Nothing of them may run any more.
func (x *pmix) remove() {
	if x != nil {
		_ = os.RemoveAll(x.folder) // the helper may be at it
	}
}
