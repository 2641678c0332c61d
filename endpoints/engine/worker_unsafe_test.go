// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"reflect"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/fult"
)

// sleepForEver has a worker that polls sleep until it is woken.
func sleepForEver(w *fult.Worker) {
	nap := reflect.ValueOf(w).Elem().FieldByName("nap")
	*(*time.Duration)(nap.Addr().UnsafePointer()) = 0
}
