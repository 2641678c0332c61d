//go:build mpi

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command ranks computes pi on ranks of one Go program, which calls MPI in C:
//
//	CC=tpslcc go run -tags mpi ./examples/ranks 4
//
// The tag keeps it out of builds without mpi.h. A program of your own needs none.
package main

/*
#include <mpi.h>

static double sum(double part)
{
    double all;
    MPI_Allreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/tpsl/tpsl/ranks"
)

const steps = 1_000_000

func main() {
	n := 2
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	if err := computePi(n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// computePi integrates 4/(1+x^2) from 0 to 1. Each rank takes every n-th step.
func computePi(n int) error {
	return ranks.Run(n, func(rank int) error {
		part := 0.0
		for i := rank; i < steps; i += n {
			x := (float64(i) + 0.5) / steps
			part += 4 / (1 + x*x) / steps
		}
		pi := float64(C.sum(C.double(part)))
		if math.Abs(pi-math.Pi) > 1e-9 {
			return errors.New("pi is wrong")
		}
		if rank == 0 {
			fmt.Printf("%d ranks: pi is %.6f\n", n, pi)
		}
		return nil
	})
}
