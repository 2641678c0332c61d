// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/pmi"
)

// tracer sends the PMI trace to mpiexec, whose stderr is the one that somebody reads.
func (p *proxy) tracer() pmi.Tracer {
	if !p.host.PMI.Trace {
		return nil
	}
	return func(line string) { p.conn.Send(channel.Traced, 0, []byte(line)) }
}
