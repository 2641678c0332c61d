// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// spareDescriptors are for what the proxy opens now and then: the keeper's pipe, files in /proc.
const spareDescriptors = 16

// checkDescriptors refuses ranks whose connections are more than the proxy may have open. The Go runtime has raised the soft limit
// to the hard one, and gives children the soft one back.
func (p *proxy) checkDescriptors(starts []start) error {
	var limit unix.Rlimit
	open, err := os.ReadDir("/proc/self/fd")
	if err == nil {
		err = unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	}
	if err != nil {
		return fmt.Errorf("count descriptors: %w", err)
	}
	need, most, ranks := len(open)+spareDescriptors+len(p.outputFiles(starts)), 0, 0
	for _, s := range starts {
		own := s.layout.Count()
		if p.port != nil {
			own += len(s.set.Ranks) // the connections of its ranks
		}
		need, most, ranks = need+own, max(most, own), ranks+len(s.set.Ranks)
	}
	if need += most; uint64(need) > limit.Cur { // a process's own ends are ours until it runs
		return fmt.Errorf("%d ranks on %s need %d descriptors in mpiexec's proxy, but its limit is %d; raise it there (ulimit -Hn), or use more hosts",
			ranks, p.host.Name, need, limit.Cur)
	}
	return nil
}
