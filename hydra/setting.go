// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"

	"github.com/tpsl/tpsl/hydra/hosts"
)

// FindHosts reads the hosts that the options name. A list wins over a file, which the environment may have named.
func (s *Setting) FindHosts(opts HostOptions) (err error) {
	if opts.LocalName != "" {
		s.Host = opts.LocalName
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
	}
	return nil
}
