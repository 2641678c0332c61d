// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"
)

const ranks = 16 // of the start-up contests

func contests(_ bool) []contest {
	one := []string{"OMP_NUM_THREADS=1"}
	// Pinned as the ranks of the other modes are, each to a core.
	pinned := []string{"OMP_PLACES=cores", "OMP_PROC_BIND=close"}
	pair := func(name string) contest {
		return contest{10 * time.Second, []side{
			{env: one, argv: []string{"bin/mpiexec", "-n", "2", "-bind-to", "core", program(name, "mpicc.mpich"), "flat"}},
			{argv: []string{"bin/mpiexec", "-n", "2", "-rpp", "2", "-bind-to", "core", program(name, "tpslcc"), "tpsl"}},
			{env: one, argv: []string{"bin/mpiexec", "-n", "2", "-rpp", "2", "-bind-to", "core", program(name, "mpicc.mpich"), "private"}},
			{env: pinned, argv: []string{"bin/mpiexec", "-n", "1", program(name, "mpicc.mpich"), "threaded"}, hangs: true},
		}}
	}
	n := fmt.Sprint(ranks)
	answer := n + " ranks\n"
	flat := program("startup", "mpicc.mpich")
	all := []contest{
		pair("latency"),
		pair("bandwidth"),
		{30 * time.Second, []side{
			{job: "Launch/by=mpiexec.hydra/ranks=16", argv: []string{"mpiexec.hydra", "-n", n, "true"}},
			{job: "Launch/by=mpiexec/ranks=16", argv: []string{"bin/mpiexec", "-n", n, "true"}},
		}},
		{60 * time.Second, []side{
			{job: "Startup/by=mpiexec.hydra/mode=flat/ranks=16", env: one, argv: []string{"mpiexec.hydra", "-n", n, flat}, want: answer},
			{job: "Startup/by=mpiexec/mode=flat/ranks=16", env: one, argv: []string{"bin/mpiexec", "-n", n, flat}, want: answer},
			{job: "Startup/by=mpiexec/mode=tpsl/ranks=16", argv: []string{"bin/mpiexec", "-n", n, "-rpp", n, program("startup", "tpslcc")}, want: answer},
			{job: "Startup/by=mpiexec/mode=private/ranks=16", env: one, argv: []string{"bin/mpiexec", "-n", n, "-rpp", n, flat}, want: answer},
		}},
	}
	pmi := program("pmi", "gcc")
	all = append(all, contest{60 * time.Second, []side{
		{argv: []string{"mpiexec.hydra", "-n", "64", pmi, "mpiexec.hydra"}},
		{argv: []string{"bin/mpiexec", "-n", "64", pmi, "mpiexec"}},
	}})
	if hasMicro() {
		all = append(all, contest{60 * time.Second, []side{
			{argv: []string{"bin/mpiexec", "-n", "8", "-rpp", "8", program("micro", "tpslcc")}},
		}})
	}
	return all
}
