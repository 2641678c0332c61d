// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/tpsl/tpsl/hydra/hosts"
	"github.com/tpsl/tpsl/hydra/launch"
)

// A Site is what a plan depends on besides the request: the host of mpiexec, its environment and terminal, and the hosts that
// ranks may run on.
type Site struct {
	Host    string                 // how this host is called
	IsLocal func(host string) bool // whether a name means this host, too
	Hosts   []hosts.Host           // where ranks may run; an empty list means only this host
	Manager hosts.Manager
	Dir     string // current directory
	Environ []string
	KVSName string
	Prompt  bool // someone reads stdout at a terminal

	ColourOut, ColourErr bool
}

// isHere reports whether a host is that of mpiexec.
func (s Site) isHere(host string) bool {
	return host == s.Host || s.IsLocal != nil && s.IsLocal(host)
}

// noManager is the name that stands for no resource manager.
const noManager = "user"

// FindHosts reads the hosts that the options name. If they name none, it reads those of the resource manager. A list wins over a
// file, because the file may come from the environment.
func (s *Site) FindHosts(opts HostOptions) (err error) {
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
