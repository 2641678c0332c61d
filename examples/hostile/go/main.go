// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command go runs a library that is not made for threads in several goroutines at once,
// each with a private copy:
//
//	go run ./examples/hostile/go FILE
//
// FILE is a library with a function long work(long seed), such as those of the folder
// above. The results are printed, a line per seed, and compared with those of one thread.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/tpsl/tpsl/loader"
)

const threads = 8

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./examples/hostile/go FILE")
		os.Exit(1)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string) error {
	first, err := loader.Open(file)
	if err != nil {
		return err
	}
	defer first.Close()
	var results, serial [threads]uintptr
	var errs [threads]error
	var all sync.WaitGroup
	for seed := range results {
		all.Go(func() { results[seed], errs[seed] = one(file, seed) })
	}
	all.Wait()
	for seed, r := range results {
		fmt.Println(seed, r)
		if serial[seed], err = first.Call("work", uintptr(seed)); err != nil {
			return err
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if !slices.Equal(serial[:], results[:]) {
		return errors.New("not the results of one thread")
	}
	return nil
}

// one does the work of one seed in a copy of its own.
func one(file string, seed int) (uintptr, error) {
	own, err := loader.Open(file)
	if err != nil {
		return 0, err
	}
	defer own.Close()
	return own.Call("work", uintptr(seed))
}
