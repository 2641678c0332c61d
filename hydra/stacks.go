// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"strings"
	"time"

	"github.com/tpsl/tpsl/hydra/channel"
)

// stacksLimit is how long proxies may take to read stacks. It is more than they give themselves.
const stacksLimit = 30 * time.Second

// unwind asks the proxies for the stacks of their ranks, and calls then when these are known.
func (j *Job) unwind(then func()) {
	j.unwinding.limit = stacksLimit
	if !j.unwinding.underWay() {
		for _, link := range j.proxies {
			link.stacks = nil
		}
	}
	j.unwinding.begin(j.watched(), func(link *proxyLink) { link.conn.Send(channel.Unwind, 0, nil) }, then)
}

// unwound takes a proxy's answer.
func (j *Job) unwound(e event) {
	var answer []channel.RankStack
	if err := e.frame.Value(&answer); err != nil {
		j.garbled(e.link, err)
		return
	}
	e.link.stacks = answer
	j.unwinding.answered(e.link)
}

// stackLines tell the stacks: one for all ranks of a host that have the same.
func (j *Job) stackLines() (lines []string) {
	for _, link := range j.proxies {
		if j.unwinding.silent[link] {
			c := complaint{text: "no stack, as their proxy did not answer", group: link.host.Group, ranks: link.host.LocalRanks(), hosts: []string{link.host.Name}}
			lines = append(lines, c.line())
		}
		var alike complaints
		for _, s := range link.stacks {
			alike.add(stackText(s), link.host.Name, link.host.Group, s.Ranks...)
		}
		for _, c := range alike {
			lines = append(lines, c.line())
		}
	}
	return lines
}

// stackText tells a stack with its innermost frame first.
func stackText(s channel.RankStack) string {
	if s.Error != "" {
		return "no stack: " + s.Error
	}
	text := strings.Builder{}
	text.WriteString("stack")
	for i, frame := range s.Frames {
		fmt.Fprintf(&text, "\n  #%d %s", i, frame)
	}
	return text.String()
}
