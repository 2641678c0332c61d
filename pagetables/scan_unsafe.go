// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"structs"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The ioctl PAGEMAP_SCAN, <linux/fs.h>: struct pm_scan_arg and struct page_region.
type scanArgument struct {
	_                             structs.HostLayout
	size, flags                   uint64
	start, end, walkEnd           uint64
	vec, vecLen, maxPages         uint64
	inverted, mask, anyOf, result uint64
}

type pageRegion struct {
	_                      structs.HostLayout
	start, end, categories uint64
}

const (
	pagemapScan = 0xc0606610 // _IOWR('f', 16, struct pm_scan_arg)

	pageIsPresent = 1 << 3
	pageIsSwapped = 1 << 4
	pageIsZero    = 1 << 5
)

// scan fills regions from start on and returns how many, and where to go on.
func scan(f *os.File, start, end uint64, regions []pageRegion) (int, uint64, error) {
	var pin runtime.Pinner // the kernel is given a number, not a pointer
	pin.Pin(unsafe.SliceData(regions))
	defer pin.Unpin()
	a := scanArgument{
		start: start, end: end,
		vec: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(regions)))), vecLen: uint64(len(regions)),
		inverted: pageIsZero, mask: pageIsZero, anyOf: pageIsPresent | pageIsSwapped, result: pageIsPresent | pageIsSwapped,
	}
	a.size = uint64(unsafe.Sizeof(a))
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), pagemapScan, uintptr(unsafe.Pointer(&a)))
	if errno != 0 {
		return 0, 0, errno
	}
	return int(n), a.walkEnd, nil
}

// scans tells whether the kernel knows the call.
func scans(f *os.File) bool {
	regions := make([]pageRegion, 1)
	_, _, err := scan(f, 0, pageSize, regions)
	return err == nil
}

func scanPages(f *os.File, start, end uint64, each func(start, end uint64)) error {
	regions := make([]pageRegion, 512)
	for start < end {
		n, next, err := scan(f, start, end, regions)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || next <= start {
			return fmt.Errorf("scan pages at %#x: %w", start, err)
		}
		for _, r := range regions[:n] {
			each(r.start, r.end)
		}
		start = next
	}
	return nil
}
