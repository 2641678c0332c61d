// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"time"
)

// ProxyArg is the argument that makes mpiexec a proxy. It cannot be an option.
const ProxyArg = "+proxy"

// IsProxy reports whether a process of this host is a proxy. A proxy that has lost the process that started it ends its ranks, removes
// what they have left, and ends.
func IsProxy(pid int) bool {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	args := strings.Split(string(line), "\x00")
	return len(args) > 1 && args[1] == ProxyArg
}

// A Host is where a proxy runs.
type Host struct {
	ID    int    // the number of the proxy
	Key   string // the name of the job there: see plan.Host.Key
	Name  string
	User  string // to log in as; "" leaves it to the launcher
	Ranks []int
}

// Options say how proxies start.
type Options struct {
	Launcher  string        // ssh, rsh, fork, slurm, lsf, sge, pbs, ll, manual; "" chooses by resource manager and hosts
	Exec      string        // the launcher's program, "" is its own name
	ExtraArgs []string      // go in front of the launcher's last arguments, host and command
	Fanout    int           // proxies that one starts; 0 is the default
	LocalName string        // another name of this host
	X         string        // "", "enable" or "disable": X forwarding of ssh
	Hybrid    bool          // the shell of each host finds mpiexec by its PATH; else it has the same path as here
	AutoFork  bool          // HYDRA_LAUNCHER_AUTOFORK: on this host a proxy starts without the launcher; the default
	Limit     time.Duration // within which a proxy must answer; 0 is the default
	Silence   time.Duration // after which a proxy that says nothing counts as dead; 0 is the default
}

// A Launcher starts the proxy of a host, with the channel on its standard streams. It is an io.Closer if something remains to be
// removed when no proxy is left.
type Launcher interface {
	Start(Host) (Remote, error)
}

// An expecter is a Launcher that starts proxies together.
type expecter interface {
	Expect(hosts []Host) error
}

// A Remote is a proxy that a launcher has started.
type Remote struct {
	In     io.WriteCloser
	Out    io.Reader
	Wait   func() error // waits for its end, once; the error says how it ended if not well
	Kill   func()
	Stderr *stderrTail // what the launcher said on its stderr; nil if that went elsewhere
}

// New returns the launcher that the options name.
func New(opts Options) (Launcher, error) {
	remote, err := newRemote(opts)
	if err != nil {
		return nil, err
	}
	if !opts.AutoFork || !forksLocally(opts.Launcher) {
		return remote, nil
	}
	return autofork{remote, opts}, nil
}

func newRemote(opts Options) (Launcher, error) {
	switch name := opts.Launcher; name {
	case "fork":
		return &Fork{}, nil
	case "":
		return newShell("ssh", opts)
	case "manual":
		return newManual(opts)
	case "slurm":
		return &slurm{opts: opts, steps: map[int]*step{}}, nil
	default:
		if _, known := shells[name]; known {
			return newShell(name, opts)
		}
		return nil, fmt.Errorf("unknown launcher %q; known are %s", name, strings.Join(Names, ", "))
	}
}

// Names lists the launchers, the default first.
var Names = []string{"ssh", "rsh", "fork", "slurm", "lsf", "sge", "pbs", "ll", "manual"}

// CanBe reports whether proxies can be started as this user. This is always possible for "" and for our own user.
func (o Options) CanBe(login string) bool {
	return isOurs(login) || shells[cmp.Or(o.Launcher, "ssh")].user != ""
}

func forksLocally(name string) bool { _, shell := shells[name]; return shell || name == "" }

// autofork forks on this host and leaves others to the launcher.
type autofork struct {
	Launcher
	opts Options
}

// Start implements Launcher.
func (a autofork) Start(host Host) (Remote, error) {
	if a.opts.isHere(host) {
		return new(Fork).Start(host)
	}
	return a.Launcher.Start(host)
}

// isHere reports whether a proxy starts on this host without the launcher. A proxy of another user needs a login.
func (o Options) isHere(host Host) bool {
	return o.AutoFork && forksLocally(o.Launcher) && (host.Name == o.LocalName || IsLocal(host.Name)) && isOurs(host.User)
}

// isOurs reports whether login is the user of this process. This is so for "".
func isOurs(login string) bool {
	if login == "" {
		return true
	}
	self, err := user.Current()
	return err == nil && self.Username == login
}

// self is the path of this program, for other hosts.
func self(hybrid bool) (string, error) {
	if hybrid {
		return "mpiexec", nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find mpiexec's own path: %w", err)
	}
	return path, nil
}
