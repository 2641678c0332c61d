// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
	"github.com/tpsl/tpsl/internal/topology"
)

// A far is what the environment asks for between hosts.
type far struct {
	carrier string   // tcp or verbs: the same for all processes
	ports   []string // of RDMA devices, for verbs; none: any
	rails   int      // virtual ones, for verbs; 0: as this host suggests
	atStart bool     // all connections are made at the start
}

// The variables that go with TPSL_CARRIER=verbs only.
const (
	portVariable  = "TPSL_RDMA_PORT"
	railsVariable = "TPSL_RDMA_RAILS"
)

// readFar reads the environment.
func readFar(getenv func(string) string) (f far, err error) {
	f = far{carrier: getenv("TPSL_CARRIER")}
	if f.atStart, err = atStart(getenv); err != nil {
		return f, err
	}
	switch f.carrier {
	case "", "tcp":
		f.carrier = "tcp"
		for _, name := range []string{portVariable, railsVariable} {
			if value := getenv(name); value != "" {
				return f, fmt.Errorf("environment: %s=%q goes with TPSL_CARRIER=verbs only: set that, or leave this out", name, value)
			}
		}
		return f, nil
	case "verbs":
	default:
		return f, fmt.Errorf("environment: TPSL_CARRIER=%q: want tcp or verbs", f.carrier)
	}
	for name, set := range map[string]bool{"TPSL_CONNECTIONS=start": f.atStart, "TPSL_RAILS": getenv("TPSL_RAILS") != ""} {
		if set {
			return f, fmt.Errorf("environment: %s does not go with TPSL_CARRIER=verbs: leave one of them out", name)
		}
	}
	if err := canVerbs(); err != nil {
		return f, fmt.Errorf("environment: TPSL_CARRIER=verbs: %w", err)
	}
	if ports := getenv(portVariable); ports != "" {
		f.ports = strings.Split(ports, ",")
		if slices.Contains(f.ports, "") {
			return f, fmt.Errorf("environment: %s=%q: a name between commas is missing", portVariable, ports)
		}
	}
	if rails := getenv(railsVariable); rails != "" {
		if f.rails, err = strconv.Atoi(rails); err != nil || f.rails < 1 || f.rails > mostRails {
			return f, fmt.Errorf("environment: %s=%q: want a number from 1 to %d", railsVariable, rails, mostRails)
		}
	}
	return f, nil
}

// mostRails is as many virtual rails as a process may have.
const mostRails = 64

// A rail is a virtual rail of this process: the port of an RDMA device, "" for any, and the NUMA node of its memory, below 0 for any.
type rail struct {
	port string
	node int
}

// railsOf returns the virtual rails of a process with so many ports that may run on these NUMA nodes: one for each node, or for
// each port of a device if those are more. No rail is without a port of the process.
func (f far) railsOf(ports int, nodes []int) ([]rail, error) {
	count := f.rails
	switch {
	case f.carrier != "verbs":
		return nil, nil
	case count > ports:
		return nil, fmt.Errorf("environment: %s=%d: this process has %d ports: ask for no more rails", railsVariable, count, ports)
	case count == 0:
		count = min(max(len(nodes), len(f.ports), 1), ports, mostRails)
	}
	rails := make([]rail, count)
	for i := range rails {
		rails[i].node = anyNode
		if len(nodes) > 1 {
			rails[i].node = nodes[i*len(nodes)/count]
		}
		if len(f.ports) > 0 {
			rails[i].port = f.ports[i%len(f.ports)]
		}
	}
	return rails, nil
}

// anyNode stands for no NUMA node.
const anyNode = -1

// numaNodes returns the NUMA nodes that this process may run on.
func numaNodes() (nodes []int) {
	var cpus unix.CPUSet
	if unix.SchedGetaffinity(0, &cpus) != nil {
		return nil
	}
	var allowed []int
	for cpu := range len(cpus) * 64 {
		if cpus.IsSet(cpu) {
			allowed = append(allowed, cpu)
		}
	}
	for _, n := range topology.Read(os.DirFS("/sys"), topology.NewSet(allowed...)).Nodes {
		if len(n.CPUs) > 0 {
			nodes = append(nodes, n.ID)
		}
	}
	return nodes
}

// join joins the processes of other hosts. The listeners are the carrier's from now on.
func (f far) join(ctx context.Context, listeners []*net.TCPListener, rails []rail, cards []card, o tcp.Options) (carrier.Carrier, error) {
	if f.carrier == "verbs" {
		return joinVerbs(listeners[0], rails, cards, o)
	}
	o.AtStart, o.Rails = f.atStart, listeners[1:]
	return tcp.Join(ctx, listeners[0], o)
}
