// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"
)

// A Context is an RDMA device that a program has opened, with what it made by it. An instance of an MPI library opens its
// own, so that a rank has contexts of its own.
type Context struct {
	Device string         `json:"device"`
	Number int            `json:"context"` // the kernel's; -1 where it does not tell
	Thread int            `json:"thread"`  // that opened it, in the caller's namespace; 0: has ended
	QPs    map[string]int `json:"qps"`     // queue pairs by type: RC, UD
	CQs    int            `json:"cqs"`     // completion queues
	MRs    int            `json:"mrs"`     // memory regions
}

// Contexts returns what programs of the caller's PID namespace have opened, as the kernel tells it for one table after the
// other. Kernels before 5.0 do not tell contexts: there it is what a thread has made.
func Contexts() (all []*Context, err error) {
	devices, err := whole(netlink.RdmaLinkList)
	if err != nil && missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list RDMA devices: %w", err)
	}
	for _, device := range devices {
		name := device.Attrs.Name
		switch t, err := tablesOf(device); {
		case err == nil:
			all = append(all, t.contexts(name)...)
		case Registered(name): // else it went meanwhile
			return nil, err
		}
	}
	return all, nil
}

// tables are what there is of a device.
type tables struct{ pds, qps, cqs, mrs []object }

func tablesOf(device *netlink.RdmaLink) (t tables, err error) {
	for _, table := range []struct {
		objects *[]object
		command int
		attr    uint16
	}{{&t.pds, cmdPDs, attrPDs}, {&t.qps, cmdQPs, attrQPs}, {&t.cqs, cmdCQs, attrCQs}, {&t.mrs, cmdMRs, attrMRs}} {
		if *table.objects, err = objects(device, table.command, table.attr); err != nil {
			return t, err
		}
	}
	return t, nil
}

// contexts puts together what belongs to one context. The kernel tells that of a protection domain and a completion queue;
// queue pairs and memory regions name their protection domain.
func (t tables) contexts(device string) []*Context {
	var all []*Context
	context := func(o object) *Context {
		same := func(c *Context) bool { return c.Number == o.context && (o.context >= 0 || c.Thread == o.thread) }
		if i := slices.IndexFunc(all, same); i >= 0 {
			return all[i]
		}
		c := &Context{Device: device, Number: o.context, Thread: o.thread, QPs: map[string]int{}}
		all = append(all, c)
		return c
	}
	ofPD := map[int]*Context{}
	for _, pd := range users(t.pds) { // in the order of making: the first one is made when the device is opened
		ofPD[pd.pd] = context(pd)
	}
	of := func(o object) *Context {
		if c := ofPD[o.pd]; c != nil {
			return c
		}
		return context(o)
	}
	for _, cq := range users(t.cqs) {
		context(cq).CQs++
	}
	for _, qp := range users(t.qps) {
		of(qp).QPs[qpName(qp.qpType)]++
	}
	for _, mr := range users(t.mrs) {
		of(mr).MRs++
	}
	return all
}

func users(all []object) []object {
	return slices.DeleteFunc(all, func(o object) bool { return o.kernel })
}

// qpName names a type of queue pairs (enum ib_qp_type).
func qpName(kind uint8) string {
	names := map[uint8]string{2: "RC", 3: "UC", 4: "UD", 8: "RAW", 9: "XRC", 10: "XRC", 0xff: "DRIVER"}
	return cmp.Or(names[kind], fmt.Sprintf("type %d", kind))
}
