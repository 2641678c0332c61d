// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command goranks WHAT uses package ranks rightly and wrongly.
package main

/*
#include <mpi.h>
#include <unistd.h>

static int sum(int v)
{
    int all;
    MPI_Allreduce(&v, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static int level(void)
{
    int level;
    MPI_Query_thread(&level);
    return level;
}

static int multiple(void) { return MPI_THREAD_MULTIPLE; }
static void end(int code) { MPI_Abort(MPI_COMM_WORLD, code); }
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/tpsl/tpsl/ranks"
)

var errTest = errors.New("why\nnot")

// adds fails where the sum of the ranks is wrong.
func adds(n int) func(int) error {
	return func(rank int) error {
		if int(C.sum(C.int(rank))) != n*(n-1)/2 {
			return errors.New("the sum is wrong")
		}
		return nil
	}
}

// actAfter returns how many threads act for a rank after ranks have had other goroutines wait in C, for which the runtime made threads.
func actAfter() (acting int) {
	var mu sync.Mutex
	wait := func(n int, also func()) {
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				C.usleep(2000)
				also()
			})
		}
		all.Wait()
	}
	for range 20 {
		err := ranks.Run(4, func(rank int) error {
			wait(10, func() {})
			return adds(4)(rank)
		})
		if err != nil {
			fmt.Println(err)
		}
		wait(60, func() {
			mu.Lock()
			defer mu.Unlock()
			if C.TPSL_Slot() >= 0 {
				acting++
			}
		})
	}
	return acting
}

func main() {
	var none *struct{ n int }
	say := func(err error) { fmt.Printf("%q\n", fmt.Sprint(err)) }
	ofOne := func(do func()) { // ends the process
		say(ranks.Run(3, func(rank int) error {
			if rank == 1 {
				do()
			}
			return adds(3)(rank)
		}))
	}
	switch os.Args[1] {
	case "errors":
		for n := range 5 {
			say(ranks.Run(n, adds(n)))
		}
		say(ranks.Run(2, nil))
		err := ranks.Run(3, func(rank int) error {
			if rank > 0 {
				return fmt.Errorf("part %d: %w", rank, errTest)
			}
			return nil
		})
		say(err)
		fmt.Println(errors.Is(err, errTest))
		say(ranks.Run(1, func(int) error { return ranks.Run(1, adds(1)) }))
	case "options":
		say(ranks.Run(2, func(rank int) error {
			if C.level() != C.multiple() {
				return errors.New("another level")
			}
			return adds(2)(rank)
		}, ranks.ThreadLevel(int(C.multiple())), ranks.CPUs("0;0")))
	case "at once":
		var all sync.WaitGroup
		for n := 1; n < 4; n++ {
			all.Go(func() {
				for range 3 {
					say(ranks.Run(n, adds(n)))
				}
			})
		}
		all.Wait()
	case "threads":
		fmt.Println(actAfter())
	case "panic":
		ofOne(func() { panic(errTest) })
	case "nil":
		ofOne(func() { fmt.Println(none.n) })
	case "Goexit":
		ofOne(runtime.Goexit)
	case "abort":
		ofOne(func() { C.end(7) })
	case "many":
		say(ranks.Run(1000000, adds(1)))
	}
}
