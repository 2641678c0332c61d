// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
)

// Gone is the state of a port that is not there.
const Gone = "gone"

// StateOf returns the state of a port, as in [NIC] or [Gone]. It is for looking often: it reads one file, and asks registered, since
// Linux keeps a device in /sys until all programs have closed it.
func StateOf(sys fs.FS, port string, registered func(device string) bool) string {
	device, number, _ := strings.Cut(port, ":")
	text, err := fs.ReadFile(sys, class+"/"+device+"/ports/"+number+"/state")
	state := parseState(strings.TrimSpace(string(text))) // unknown if it could not be read: that says nothing of the port
	if errors.Is(err, fs.ErrNotExist) || !registered(device) {
		return Gone
	}
	return state
}

// Registered reports whether the kernel still offers a device to programs, or does not tell.
func Registered(device string) bool {
	links, err := whole(netlink.RdmaLinkList)
	return err != nil || slices.ContainsFunc(links, func(l *netlink.RdmaLink) bool { return l.Attrs.Name == device })
}

// Lost returns what it is to ranks that a port by which they send is in a state other than up. ports are those that there are.
func Lost(port, state string, ports []NIC) *Trouble {
	if state == Gone {
		return &Trouble{What: "RDMA port " + port + " is gone", Remedy: "load its driver" + orOthers(ports), lost: "connections by it are lost"}
	}
	n := NIC{Name: port}
	if i := slices.IndexFunc(ports, func(n NIC) bool { return n.Name == port }); i >= 0 {
		n = ports[i]
	}
	n.State = state
	what, remedy := n.stateTrouble()
	return &Trouble{What: what, Remedy: remedy, lost: "ranks that send by it fail"}
}

// MayMiss reports whether ranks that have sent by RDMA may go on without one of their ports: connections never move to another,
// but ranks of one host may have made them by shared memory, and by more than two ports UCX makes none (docs/rdma.md).
func (w Want) MayMiss(h Host) bool {
	return h.Here == h.Ranks && (w.Memory || w.Self && h.Ranks == 1) || len(w.Ports) > 2
}

// String is a line that tells what to do.
func (t Trouble) String() string {
	switch {
	case t.Way != "":
		return fmt.Sprintf("%s; ranks use %s; to mend it, %s", t.What, t.Way, t.Remedy)
	case t.lost != "":
		return fmt.Sprintf("%s; %s; to mend it, %s", t.What, t.lost, t.Remedy)
	case t.tcp != "":
		return fmt.Sprintf("%s; %s, or %s", t.What, t.Remedy, t.tcp)
	}
	return fmt.Sprintf("%s; %s", t.What, t.Remedy)
}
