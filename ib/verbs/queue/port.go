// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package queue

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror
#cgo LDFLAGS: -libverbs
#include "queue.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"
)

// A Port is a port of an open device, with one of its GIDs.
type Port struct {
	domain *C.struct_ibv_pd
	number C.uint8_t
	index  C.int // of the GID
	lid    uint16
	mtu    uint8
	gid    [16]byte
}

// NewPort returns a port by its number, from 1, with the GID of an index. The domain is a struct ibv_pd.
func NewPort(domain unsafe.Pointer, number, index int) (*Port, error) {
	p := &Port{domain: (*C.struct_ibv_pd)(domain), number: C.uint8_t(number), index: C.int(index)}
	var attr C.struct_ibv_port_attr
	var gid C.union_ibv_gid
	if status := C.tpsl_queue_port(p.domain, p.number, p.index, &attr, &gid); status != 0 {
		return nil, fmt.Errorf("ask for port %d and its GID %d: %w", number, index, syscall.Errno(status))
	}
	p.lid, p.mtu, p.gid = uint16(attr.lid), uint8(attr.active_mtu), gid
	return p, nil
}

// A GID is an address that a port of a device goes by.
type GID struct {
	Port, Index int
	Address     [16]byte
	Routed      bool // RoCE v2
}

// mostGIDs is as many as the kernel tells in one call.
const mostGIDs = 65535 / C.sizeof_struct_ibv_gid_entry

// GIDs returns those of all ports of a device. The domain is a struct ibv_pd.
func GIDs(domain unsafe.Pointer) (all []GID, err error) {
	entries := make([]C.struct_ibv_gid_entry, mostGIDs)
	n := C.tpsl_queue_gids((*C.struct_ibv_pd)(domain), &entries[0], mostGIDs)
	if n < 0 {
		return nil, fmt.Errorf("ask for the GIDs of its ports: %w", syscall.Errno(-n))
	}
	for _, e := range entries[:n] {
		all = append(all, GID{int(e.port_num), int(e.gid_index), e.gid, e.gid_type == C.IBV_GID_TYPE_ROCE_V2})
	}
	return all, nil
}

// An Address is where a Pair is.
type Address struct {
	Number uint32 // of the pair
	PSN    uint32 // of its first packet, 24 bits
	LID    uint16
	MTU    uint8 // enum ibv_mtu: the most that its port carries
	GID    [16]byte
}

// AddressSize is the length of an encoded address, in bytes.
const AddressSize = 27

// Encode returns the address as bytes.
func (a *Address) Encode() []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, AddressSize), a.Number)
	b = binary.LittleEndian.AppendUint32(b, a.PSN)
	b = binary.LittleEndian.AppendUint16(b, a.LID)
	return append(append(b, a.MTU), a.GID[:]...)
}

// DecodeAddress returns the address that begins b, of AddressSize bytes or more.
func DecodeAddress(b []byte) (a Address) {
	a.Number, a.PSN = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])&(1<<24-1)
	a.LID, a.MTU = binary.LittleEndian.Uint16(b[8:]), b[10]
	copy(a.GID[:], b[11:AddressSize])
	return a
}
