// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"

	"github.com/tpsl/tpsl/hydra/hosts"
	"github.com/tpsl/tpsl/hydra/launch"
)

// isHere reports whether a host is that of mpiexec.
func (s Setting) isHere(host string) bool {
	return host == s.Host || s.IsLocal != nil && s.IsLocal(host)
}

// noManager is the value of -rmk for jobs that no resource manager runs.
const noManager = "user"

// FindHosts reads the hosts that the options name, or else those of the resource manager. A list wins over a file, which
// the environment may have named.
func (s *Setting) FindHosts(opts HostOptions) (err error) {
	if opts.LocalName != "" {
		s.Host = opts.LocalName
	}
	s.IsLocal = launch.IsLocal
	getenv := func(name string) string { value, _ := Getenv(s.Environ, name); return value }
	if opts.RMK != noManager {
		if s.Manager, err = hosts.Find(opts.RMK, getenv); err != nil {
			return fmt.Errorf("option -rmk: %w", err)
		}
	}
	switch {
	case opts.List != "":
		if s.Hosts, err = hosts.ParseList(opts.List); err != nil {
			return fmt.Errorf("option -hosts: %w", err)
		}
	case opts.File != "":
		if s.Hosts, err = hosts.ReadFile(opts.File, s.Host); err != nil {
			return fmt.Errorf("host file: %w", err)
		}
	case s.Manager.Name != "":
		s.Hosts, err = s.Manager.Hosts(getenv)
	}
	return err
}
