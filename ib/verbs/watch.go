// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra -Werror
#cgo LDFLAGS: -lucm -lucs
#include "watch.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/tpsl/tpsl/ib/regcache"
)

// Watch has a cache's journal told of all memory that goes from now on, until stop is
// called. Call it before the cache is used.
func Watch(journal *regcache.Journal) (stop func(), err error) {
	var pin runtime.Pinner
	pin.Pin(journal) // C keeps it
	if status := C.tpsl_watch(unsafe.Pointer(journal)); status != 0 {
		pin.Unpin()
		return nil, fmt.Errorf("watch memory: libucm does not hear munmap: %s: unset UCX_MEM_EVENTS and UCX_MEM_MMAP_HOOK_MODE", C.GoString(C.ucs_status_string(status)))
	}
	return func() {
		C.tpsl_unwatch(unsafe.Pointer(journal))
		pin.Unpin()
	}, nil
}
