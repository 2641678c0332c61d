// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

/*
#cgo LDFLAGS: -libverbs
#include <errno.h>
#include <infiniband/verbs.h>

// ibv_reg_mr is a macro.
static struct ibv_mr *tpsl_reg_mr(struct ibv_pd *pd, uint64_t start, size_t length, int access)
{
	return ibv_reg_mr(pd, (void *)(uintptr_t)start, length, access);
}

static int tpsl_dereg_mr(uintptr_t mr)
{
	return ibv_dereg_mr((struct ibv_mr *)mr);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/tpsl/tpsl/ib/regcache"
)

// What a NIC may do with memory beside reading it for its own process. A remote write
// needs LocalWrite as well.
const (
	LocalWrite  regcache.Access = C.IBV_ACCESS_LOCAL_WRITE
	RemoteWrite regcache.Access = C.IBV_ACCESS_REMOTE_WRITE
	RemoteRead  regcache.Access = C.IBV_ACCESS_REMOTE_READ
)

// A Device is an open RDMA device with a protection domain: a regcache.Registrar.
type Device struct {
	name    string
	context *C.struct_ibv_context
	domain  *C.struct_ibv_pd
	regions atomic.Int64          // registered
	broken  atomic.Pointer[error] // why a region could not be deregistered
}

// Open opens the device of that name, as tpsl nic prints it.
func Open(name string) (*Device, error) {
	var n C.int
	list, err := C.ibv_get_device_list(&n)
	if list == nil {
		return nil, fmt.Errorf("open RDMA device %s: list devices: %w: load the kernel module ib_uverbs", name, err)
	}
	defer C.ibv_free_device_list(list)
	devices := unsafe.Slice(list, int(n))
	nameOf := func(d *C.struct_ibv_device) string { return C.GoString(C.ibv_get_device_name(d)) }
	i := slices.IndexFunc(devices, func(d *C.struct_ibv_device) bool { return nameOf(d) == name })
	if i < 0 {
		have := []string{"none"}
		if n > 0 {
			have = nil
			for _, d := range devices {
				have = append(have, nameOf(d))
			}
		}
		return nil, fmt.Errorf("open RDMA device %s: no such device: this host has %s", name, strings.Join(have, ", "))
	}
	context, err := C.ibv_open_device(devices[i])
	if context == nil {
		// libibverbs goes on to look for the file elsewhere, and returns the error of that.
		if file, e := os.OpenFile("/dev/infiniband/"+C.GoString(&devices[i].dev_name[0]), os.O_RDWR, 0); e != nil {
			err = e
		} else {
			file.Close()
		}
		return nil, fmt.Errorf("open RDMA device %s: %w: %s", name, err, remedy(err))
	}
	domain, err := C.ibv_alloc_pd(context)
	if domain == nil {
		C.ibv_close_device(context)
		return nil, fmt.Errorf("open RDMA device %s: allocate a protection domain: %w", name, err)
	}
	return &Device{name: name, context: context, domain: domain}, nil
}

func remedy(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "ask for read and write permission on the file"
	case errors.Is(err, fs.ErrNotExist):
		return "load the kernel module ib_uverbs, or let the container see the file"
	}
	return "see dmesg"
}

// Domain returns the protection domain, a struct ibv_pd, for package queue.
func (d *Device) Domain() unsafe.Pointer { return unsafe.Pointer(d.domain) }

// Register is ibv_reg_mr. Its errors are of type syscall.Errno.
func (d *Device) Register(r regcache.Range, access regcache.Access) (regcache.Memory, error) {
	mr, err := C.tpsl_reg_mr(d.domain, C.uint64_t(r.Start), C.size_t(r.Len()), C.int(access))
	if mr == nil {
		return regcache.Memory{}, fmt.Errorf("RDMA device %s: %w", d.name, err)
	}
	d.regions.Add(1)
	return regcache.Memory{Local: uint32(mr.lkey), Remote: uint32(mr.rkey), Handle: uintptr(unsafe.Pointer(mr))}, nil
}

// Deregister is ibv_dereg_mr. Close returns the error.
func (d *Device) Deregister(m regcache.Memory) {
	if errno := C.tpsl_dereg_mr(C.uintptr_t(m.Handle)); errno != 0 {
		err := fmt.Errorf("RDMA device %s: deregister memory with key %#x: %w", d.name, m.Local, syscall.Errno(errno))
		d.broken.CompareAndSwap(nil, &err)
		return
	}
	d.regions.Add(-1)
}

// Close closes the device. The cache must be closed before, and no region be in use.
func (d *Device) Close() error {
	if err := d.broken.Load(); err != nil {
		return *err
	}
	if n := d.regions.Load(); n > 0 {
		return fmt.Errorf("close RDMA device %s: regions still registered: %d; close the cache before", d.name, n)
	}
	if errno := C.ibv_dealloc_pd(d.domain); errno != 0 {
		return fmt.Errorf("close RDMA device %s: free its protection domain: %w", d.name, syscall.Errno(errno))
	}
	if status, err := C.ibv_close_device(d.context); status != 0 {
		return fmt.Errorf("close RDMA device %s: %w", d.name, err)
	}
	return nil
}
