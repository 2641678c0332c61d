// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A Host is what ranks find where they run.
type Host struct {
	Ports  []NIC
	Open   func(verbs string) error // tries a file of /dev/infiniband; nil: it is not tried
	Locked uint64                   // bytes of memory that a process may register; see [LockLimit]

	InProcess   int // ranks of a process, at most
	Here, Ranks int // ranks on this host, and in all
}

// A Trouble is why ranks cannot send by RDMA as they want to.
type Trouble struct {
	What   string // "RDMA port mlx5_0:1 is down"
	Remedy string
	Way    string // by which the ranks send all the same; "": none
	Some   bool   // that is by RDMA, with other ports
	lost   string // what it is to ranks that have sent by it
	tcp    string // how to allow TCP
}

// Trouble returns the first thing that is in the way of ranks with these settings, nil if nothing is or they do not ask for
// RDMA. What is not known is in nobody's way.
func (w Want) Trouble(h Host) *Trouble {
	if !w.RDMA {
		return nil
	}
	t, good := w.ports(h)
	switch {
	case t == nil:
		return nil
	case len(good) > 0 && w.Ports == nil:
		return nil // UCX takes those that work, as it was asked to
	case len(good) > 0:
		t.Way, t.Some = strings.Join(good, ", "), true
	case w.TCP:
		t.Way = "TCP"
	case w.Memory && h.Here == h.Ranks:
		t.Way = "shared memory"
	case w.Self && h.Ranks == 1:
		return nil // it has nobody to send to
	default:
		t.tcp = w.allowTCP()
	}
	return t
}

// Failed returns what may be why ranks with these settings have failed, nil if nothing is known. It names no way: nobody knows by
// which they went.
func (w Want) Failed(h Host) *Trouble {
	for _, n := range h.Ports {
		if slices.Contains(w.Bare, n.Device) {
			return &Trouble{What: "UCX_NET_DEVICES names RDMA device " + n.Device + " without a port", Remedy: "name the port: " + n.Name}
		}
	}
	t := w.Trouble(h)
	if t != nil {
		t.Way = ""
	}
	return t
}

// Settled returns the same want of the ports that can be used, to be held against later troubles.
func (w Want) Settled(h Host) Want {
	_, w.Ports = w.ports(h)
	return w
}

// ports returns the first port that cannot be used, and the names of those that can.
func (w Want) ports(h Host) (t *Trouble, good []string) {
	for _, port := range w.Ports {
		if t == nil && !slices.ContainsFunc(h.Ports, func(n NIC) bool { return n.Name == port }) {
			t = &Trouble{What: "RDMA port " + port + " is not there", Remedy: "load its driver" + orOthers(h.Ports)}
		}
	}
	if len(h.Ports) == 0 && t == nil {
		t = &Trouble{What: "there is no RDMA device", Remedy: "load its driver" + orOthers(nil)}
	}
	for _, n := range h.Ports {
		if !w.wants(n.Name) {
			continue
		}
		what, remedy := h.Unusable(n, w)
		if what == "" {
			good = append(good, n.Name)
		} else if t == nil {
			t = &Trouble{What: what, Remedy: remedy}
		}
	}
	return t, good
}

func orOthers(ports []NIC) string {
	if len(ports) == 0 {
		return " (rdma link lists devices)"
	}
	var list []string
	for _, n := range ports {
		list = append(list, n.Name)
	}
	return ", or name one that is: " + strings.Join(list, ", ")
}

// Unusable says why ranks cannot use a port, "" if they can, and what to do.
func (h Host) Unusable(n NIC, w Want) (what, remedy string) {
	if what, remedy = n.stateTrouble(); what != "" {
		return what, remedy
	}
	if n.Verbs == "" {
		return fmt.Sprintf("RDMA device %s has no file in /dev/infiniband", n.Device), "load ib_uverbs (modprobe ib_uverbs)"
	}
	if h.Open != nil {
		if err := h.Open(n.Verbs); err != nil {
			return n.openTrouble(err)
		}
	}
	if need := w.registers() * uint64(h.InProcess); h.Locked < need && !w.Tuned {
		return fmt.Sprintf("a process may lock %s of memory, but with RDMA device %s it needs %d MiB for %s",
				size(h.Locked), n.Device, need>>20, ranks(h.InProcess)),
			"raise it: ulimit -l unlimited (in limits.conf, or LimitMEMLOCK of sshd's or slurmd's unit)"
	}
	return "", ""
}

func (n NIC) stateTrouble() (what, remedy string) {
	what = fmt.Sprintf("RDMA port %s is %s", n.Name, n.State)
	switch {
	case n.State == "up" || n.State == "unknown":
		return "", ""
	case n.State != "down":
		return what, "start a subnet manager (opensm)"
	case len(n.GIDs) > 0 && n.GIDs[0].Interface != "":
		return what, "bring its network interface up (ip link set " + n.GIDs[0].Interface + " up)"
	}
	return what, "bring it up (rdma link shows it)"
}

func (n NIC) openTrouble(err error) (what, remedy string) {
	what = fmt.Sprintf("/dev/infiniband/%s of RDMA device %s cannot be opened: %v", n.Verbs, n.Device, err)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return what, "let all read and write it (chmod a+rw), as rdma-core's udev rules do"
	case errors.Is(err, fs.ErrNotExist):
		return what, "let udev make it, or give the container the device (--device /dev/infiniband)"
	}
	return what, "see what the kernel says (dmesg)"
}

// What a rank of MPICH 4.0.2 on UCX 1.13 registers before its first message is sent, the sum of its requests on rxe: receive buffers of 4096
// messages, send buffers, and those of the datagrams by which ranks find each other (docs/rdma.md).
const (
	registersRC = 51 << 20
	registersUD = 7 << 20
)

func (w Want) registers() uint64 {
	if w.Light {
		return registersUD
	}
	return registersRC
}

func size(bytes uint64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

func ranks(n int) string {
	if n == 1 {
		return "a rank"
	}
	return fmt.Sprintf("its %d ranks", n)
}
