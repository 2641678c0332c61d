// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"net"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
)

// A far is what the environment asks for between hosts.
type far struct {
	carrier string // tcp or verbs: the same for all processes
	port    string // of an RDMA device, for verbs; "": any
	atStart bool   // all connections are made at the start
}

// readFar reads the environment.
func readFar(getenv func(string) string) (f far, err error) {
	f = far{carrier: getenv("TPSL_CARRIER"), port: getenv("TPSL_RDMA_PORT")}
	if f.atStart, err = atStart(getenv); err != nil {
		return f, err
	}
	switch f.carrier {
	case "", "tcp":
		f.carrier = "tcp"
		if f.port != "" {
			return f, fmt.Errorf("environment: TPSL_RDMA_PORT=%q goes with TPSL_CARRIER=verbs only: set that, or leave this out", f.port)
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
	return f, nil
}

// join joins the processes of other hosts. The listeners are the carrier's from now on.
func (f far) join(ctx context.Context, listeners []*net.TCPListener, o tcp.Options) (carrier.Carrier, error) {
	if f.carrier == "verbs" {
		return joinVerbs(listeners[0], f.port, o)
	}
	o.AtStart, o.Rails = f.atStart, listeners[1:]
	return tcp.Join(ctx, listeners[0], o)
}
