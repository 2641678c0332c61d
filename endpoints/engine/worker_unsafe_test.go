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
	longest := reflect.ValueOf(w).Elem().FieldByName("longest")
	*(*time.Duration)(longest.Addr().UnsafePointer()) = 0
}
