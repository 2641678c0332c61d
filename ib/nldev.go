// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Commands and attributes of linux/rdma_netlink.h that package nl lacks.
const (
	cmdQPs, cmdCQs, cmdMRs, cmdPDs = 10, 12, 13, 14 // RDMA_NLDEV_CMD_RES_QP_GET and its like

	attrQPs, attrCQs, attrMRs, attrPDs = 19, 35, 40, 46 // tables: RDMA_NLDEV_ATTR_RES_QP and its like
	attrType                           = 26             // RDMA_NLDEV_ATTR_RES_TYPE, of a queue pair
	attrPID                            = 28             // RDMA_NLDEV_ATTR_RES_PID
	attrKernel                         = 29             // RDMA_NLDEV_ATTR_RES_KERN_NAME
	attrPDN                            = 60             // RDMA_NLDEV_ATTR_RES_PDN
	attrContext                        = 64             // RDMA_NLDEV_ATTR_RES_CTXN
)

// An object is an entry of the kernel's tables of what there is of a device.
type object struct {
	qpType  uint8 // enum ib_qp_type
	pd      int   // protection domain that it belongs to, or is; -1 where the kernel does not tell
	context int   // -1 where the kernel does not tell
	thread  int   // that made it; 0: has ended
	kernel  bool  // is the kernel's own
}

var errMalformed = errors.New("malformed answer of the kernel")

// whole asks the kernel for a list again when that has changed meanwhile, and was cut.
func whole[T any](list func() ([]T, error)) (all []T, err error) {
	for range 10 {
		if all, err = list(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return all, err
}

// objects asks for one table of a device.
func objects(device *netlink.RdmaLink, command int, table uint16) (all []object, err error) {
	request := nl.NewNetlinkRequest(nl.RDMA_NL_NLDEV<<nl.RDMA_NL_GET_CLIENT_SHIFT|command, unix.NLM_F_DUMP)
	request.AddData(nl.NewRtAttr(nl.RDMA_NLDEV_ATTR_DEV_INDEX, nl.Uint32Attr(device.Attrs.Index)))
	messages, err := whole(func() ([][]byte, error) { return request.Execute(unix.NETLINK_RDMA, 0) })
	for _, message := range messages {
		if err == nil {
			all, err = parseObjects(all, message, table)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("ask for what there is of RDMA device %s: %w", device.Attrs.Name, err)
	}
	return all, nil
}

// parseObjects adds the objects of a message: a table is an attribute, each of its entries one in it.
func parseObjects(all []object, message []byte, table uint16) ([]object, error) {
	err := eachAttribute(message, func(kind uint16, entries []byte) error {
		if kind != table {
			return nil
		}
		return eachAttribute(entries, func(_ uint16, fields []byte) error {
			o := object{pd: -1, context: -1}
			err := eachAttribute(fields, o.set)
			all = append(all, o)
			return err
		})
	})
	return all, err
}

func (o *object) set(kind uint16, value []byte) error {
	numbers := map[uint16]*int{attrPDN: &o.pd, attrContext: &o.context, attrPID: &o.thread}
	switch number := numbers[kind]; {
	case kind == attrKernel:
		o.kernel = true
	case kind == attrType && len(value) == 1:
		o.qpType = value[0]
	case number != nil && len(value) == 4:
		*number = int(binary.NativeEndian.Uint32(value))
	case kind == attrType || number != nil:
		return errMalformed
	}
	return nil
}

// eachAttribute passes the attributes of a message: length and type of two bytes each, then the value, then padding to four
// bytes, which the last one may lack (netlink(7)). Package nl's ParseRouteAttr panics there.
func eachAttribute(b []byte, each func(kind uint16, value []byte) error) error {
	for len(b) > 0 {
		if len(b) < unix.SizeofNlAttr {
			return errMalformed
		}
		length, kind := int(binary.NativeEndian.Uint16(b)), binary.NativeEndian.Uint16(b[2:])
		if length < unix.SizeofNlAttr || length > len(b) {
			return errMalformed
		}
		if err := each(kind&nl.NLA_TYPE_MASK, b[unix.SizeofNlAttr:length]); err != nil {
			return err
		}
		b = b[min((length+3)&^3, len(b)):]
	}
	return nil
}
