// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command go runs a library that is not made for threads in several goroutines at once,
// each with a private copy:
//
//	go run ./examples/hostile/go [-threads N] [-shared] FILE
//
// FILE is a library with a function long work(long seed), such as those of the folder
// above. The results are printed, a line per seed, and compared with those of one thread.
// With -shared all goroutines use one copy, which goes wrong.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/tpsl/tpsl/loader"
)

func main() {
	threads := flag.Int("threads", 8, "goroutines at once")
	shared := flag.Bool("shared", false, "one copy for all")
	flag.Parse()
	if err := run(flag.Arg(0), *threads, *shared); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string, threads int, shared bool) error {
	copies := make([]*loader.Instance, threads)
	for i := range copies {
		var err error
		if copies[i], err = loader.Open(file); err != nil {
			return err
		}
		if shared {
			copies[i] = copies[0]
		}
	}
	serial := make([]uintptr, threads)
	for seed := range serial {
		var err error
		if serial[seed], err = copies[0].Call("work", uintptr(seed)); err != nil {
			return err
		}
	}

	results, errs := make([]uintptr, threads), make([]error, threads)
	var all sync.WaitGroup
	for seed, own := range copies {
		all.Go(func() { results[seed], errs[seed] = own.Call("work", uintptr(seed)) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for seed, r := range results {
		fmt.Println(seed, r)
	}
	if !slices.Equal(serial, results) {
		return errors.New("not the results of one thread")
	}
	return nil
}
