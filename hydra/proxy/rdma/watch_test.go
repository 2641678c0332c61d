// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/pmi"
)

// What is told of ports a:1 and b:1, a look a second. A letter is a state: up, down, init, gone, ? could not be read.
func TestPortWatch(t *testing.T) {
	states := map[byte]string{'u': "up", 'd': "down", 'i': "init", 'g': ib.Gone, '?': "unknown"}
	down := func(n int) string { return strings.Repeat("d", n) }
	for name, c := range map[string]struct {
		a, b string
		want string // second, port and state
	}{
		"well":                           {strings.Repeat("u", 30), strings.Repeat("u", 30), ""},
		"down and back":                  {"u" + down(10) + "u", "", ""},
		"down for long":                  {"u" + down(30), "", "11 a:1 down"},
		"a flap while another is down":   {strings.Repeat("duduu", 6), down(30), "10 b:1 down"},
		"flaps":                          {strings.Repeat(down(10)+"u", 4), "", ""},
		"down, then waits for a manager": {down(8) + strings.Repeat("i", 8), "", ""},
		"gone for one look":              {"uugu", "", ""},
		"gone at times":                  {"uugugug", "", ""},
		"gone for good":                  {"uuggggg", "", "3 a:1 gone"},
		"gone, then not to be read":      {"uug?g", "", ""},
		"down, then gone":                {down(12) + "ggg", "", "10 a:1 down, 13 a:1 gone"},
		"both gone":                      {"uggg", "uuggg", "2 a:1 gone, 3 b:1 gone"},
		"not to be read":                 {strings.Repeat("?", 30), "", ""},
	} {
		watch := newPortWatch([]wish{
			{ib.Want{Ports: []string{"b:1"}}, true, true}, {ib.Want{Ports: []string{"a:1", "b:1"}}, true, true},
			{ib.Want{Ports: []string{"c:1"}}, false, true}, {ib.Want{Ports: []string{"d:1"}}, true, false},
		})
		var news []string
		for second := range len(c.a) {
			for _, s := range watch.look(time.Unix(int64(second), 0), func(port string) string {
				if port == "a:1" {
					return states[c.a[second]]
				}
				if assert.Equal(t, "b:1", port); second < len(c.b) {
					return states[c.b[second]]
				}
				return "up"
			}) {
				news = append(news, fmt.Sprint(second, " ", s.port, " ", s.state))
			}
		}
		assert.Equal(t, c.want, strings.Join(news, ", "), name)
	}
}

// A job ends for a device that is gone, whatever else is allowed, unless no rank that had it needs it.
func TestVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		settings     string
		state        string
		here         int // of 4 ranks
		had, certain bool
		want         channel.Kind
	}{
		"down":                    {"UCX_TLS=rc,self UCX_NET_DEVICES=a:1", "down", 2, true, true, channel.Warned},
		"no subnet manager":       {"UCX_TLS=rc,self UCX_NET_DEVICES=a:1", "init", 2, true, true, channel.Warned},
		"gone":                    {"UCX_TLS=rc,self UCX_NET_DEVICES=a:1", ib.Gone, 2, true, true, channel.Failed},
		"gone, one host":          {"UCX_TLS=rc,self UCX_NET_DEVICES=a:1", ib.Gone, 4, true, true, channel.Failed},
		"gone, TCP":               {"UCX_TLS=rc,tcp,self UCX_NET_DEVICES=a:1,lo", ib.Gone, 2, true, true, channel.Failed},
		"gone, another port":      {"UCX_TLS=rc,self UCX_NET_DEVICES=a:1,b:1", ib.Gone, 2, true, true, channel.Failed},
		"gone, many ports":        {"UCX_TLS=rc,self UCX_NET_DEVICES=a:1,b:1,c:1", ib.Gone, 2, true, true, channel.Warned},
		"gone, memory, one host":  {"UCX_TLS=rc,sm,self UCX_NET_DEVICES=a:1", ib.Gone, 4, true, true, channel.Warned},
		"gone, memory, two hosts": {"UCX_TLS=rc,sm,self UCX_NET_DEVICES=a:1", ib.Gone, 2, true, true, channel.Failed},
		"gone, another's":         {"UCX_TLS=rc,self UCX_NET_DEVICES=b:1", ib.Gone, 2, true, true, channel.Warned},
		"gone, never had":         {"UCX_TLS=rc,self UCX_NET_DEVICES=a:1", ib.Gone, 2, false, true, channel.Warned},
		"gone, a script":          {"UCX_TLS=rc,self UCX_NET_DEVICES=a:1", ib.Gone, 2, true, false, channel.Warned},
	} {
		g := NewGuard(plan.Host{Ranks: c.here, World: pmi.World{Size: 4}}, nil, nil)
		g.wishes = []wish{{ib.ReadWant(strings.Fields(c.settings)), c.had, c.certain}}
		assert.Equal(t, c.want, g.verdict(sighting{"a:1", c.state}), name)
	}
}
