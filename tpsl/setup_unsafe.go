// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tpsl

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fno-strict-aliasing -fexceptions -I${SRCDIR}/../loader -I${SRCDIR}/../process -I${SRCDIR}/../endpoints -I${SRCDIR}/../include
#include <stdlib.h>
#include "dispatch.h"
*/
import "C"

import (
	"strings"
	"unsafe"

	"github.com/tpsl/tpsl/internal/collector"
	"github.com/tpsl/tpsl/process"
	"github.com/tpsl/tpsl/process/rankset"
)

// tpslSetup makes the process's own job: the launcher's, the one that TPSL_RANKS wants or that an OpenMP team of that size is, or one of
// a single rank. folder is where what is installed beside the library lies. *cerr becomes an error's line from malloc.
//
//export tpslSetup
func tpslSetup(folder *C.char, team C.int, cerr **C.char) *C.struct_tpsl_job {
	collector.Rarely()
	j, err := first(C.GoString(folder), int(team))
	if err != nil {
		*cerr = C.CString(err.Error())
		return nil
	}
	return j.c
}

func first(folder string, team int) (*job, error) {
	ranks, own, err := rankset.Wanted(getenv, team)
	if err != nil {
		return nil, err
	}
	if own != "" {
		var cpus []string
		if v := getenv("TPSL_CPUS"); v != "" {
			cpus = strings.Split(v, ";")
		}
		return newOwnJob(folder, own, ranks, cpus)
	}
	set, err := rankset.Parse(getenv)
	if err != nil {
		return nil, err
	}
	j, err := newJob(folder, set)
	if err != nil {
		return nil, err
	}
	j.c.aborts = true
	process.AddJob(unsafe.Pointer(j.c))
	return j, nil
}

// getenv is C's, which sees what the program has set: os.Getenv has what was there at the
// start.
func getenv(name string) string {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.GoString(C.getenv(c))
}
