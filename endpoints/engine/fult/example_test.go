// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult_test

import (
	"fmt"
	"log"

	"github.com/tpsl/tpsl/endpoints/engine/fult"
)

// Two threads of a worker: one waits for a value, the other stores it and signals.
func Example() {
	w := fult.NewWorker(2)
	value := 0
	reader, err := w.Create(func(t *fult.Thread) {
		for value == 0 {
			t.Wait()
		}
		fmt.Println("got", value)
	})
	if err != nil {
		log.Fatal(err)
	}
	bit := reader.Bit()
	if _, err := w.Create(func(*fult.Thread) {
		value = 42
		bit.Set()
	}); err != nil {
		log.Fatal(err)
	}
	if err := w.Run(); err != nil {
		log.Fatal(err)
	}
	// Output: got 42
}
