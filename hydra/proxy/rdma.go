// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// rdma is what the host's ranks want of RDMA.
type rdma struct {
	wishes []wish

	mu   sync.Mutex
	told map[string]channel.Kind // lines, and how
}

// A wish is what ranks want.
type wish struct {
	ib.Want
	had     bool // when they started: by these ports
	certain bool // their program goes by UCX's variables
}

// checkRDMA refuses ranks that ask for RDMA which the host cannot give, where they have no other way to each other. Where they
// have one it warns, and makes them take it.
func (p *proxy) checkRDMA(starts []start, pl placement) error {
	host := sync.OnceValues(p.rdmaHost)
	judged := map[string][]string{} // most ranks want the same
	for i, s := range starts {
		for _, own := range p.rankSettings(s.set, pl) {
			want := ib.ReadWant(slices.Concat(s.env, own))
			if !want.RDMA && len(want.Bare) == 0 {
				continue
			}
			h, err := host()
			if err != nil {
				p.log.Debug("not looked at RDMA", "error", err)
				return nil // UCX may know more
			}
			h.InProcess = len(s.set.Ranks)
			key := fmt.Sprint(s.set.Program, h.InProcess, want)
			if _, done := judged[key]; !done {
				if judged[key], err = p.wish(s, want, h); err != nil {
					return err
				}
			}
			starts[i].env = plan.SetEnv(starts[i].env, judged[key]...)
		}
	}
	return nil
}

// rdmaHost returns what there is on the host before ranks run.
func (p *proxy) rdmaHost() (h ib.Host, err error) {
	h = ib.Host{Open: ib.OpenVerbs, Here: p.host.Ranks, Ranks: p.host.World.Size}
	if h.Ports, err = ib.Ports(os.DirFS("/sys"), new(topology.Machine)); err == nil {
		h.Locked, err = ib.LockLimit()
	}
	return h, err
}

// wish notes what a rank wants, if it can have that or do without, and returns the settings by which it does without. A program
// that may not go by them is left alone: it may have a way that nobody knows here.
func (p *proxy) wish(s start, want ib.Want, host ib.Host) (instead []string, err error) {
	trouble, certain := want.Trouble(host), usesUCX(s, p.programs[s.set.Program])
	had := want.RDMA && (trouble == nil || trouble.Some)
	switch {
	case trouble == nil || !certain:
	case trouble.Way == "":
		return nil, p.rdmaError(trouble)
	default:
		p.tellRDMA(channel.Warned, trouble)
		if !trouble.Some {
			return want.WithoutRDMA(), nil
		}
	}
	if had {
		want = want.Settled(host)
	}
	p.rdma.wishes = append(p.rdma.wishes, wish{want, had, certain})
	return nil, nil
}

// usesUCX reports whether UCX's variables mean something to a program for certain. What a script starts nobody knows, and Open MPI
// has other ways beside UCX.
func usesUCX(s start, program plan.Program) bool {
	if s.way.pmix {
		return false
	}
	file := s.path
	if s.way.isPrivate() {
		file = s.args[1]
	}
	libraryPath, _ := plan.Getenv(s.env, "LD_LIBRARY_PATH")
	libraries := search.New(libraryPath).In(program.Wdir)
	closure, err := libraries.Closure(file)
	if err != nil {
		return false
	}
	defer closure.Close()
	if closure.Find(soname.Libtpsl) == nil {
		return closure.Find(libucp) != nil
	}
	mpi, err := mpiLibrary(s.env, closure.Objects[0].Image, libraries)
	if err != nil {
		return false
	}
	theirs, err := libraries.Closure(mpi)
	if err != nil {
		return false
	}
	defer theirs.Close()
	return theirs.Find(libucp) != nil
}

const libucp = "libucp.so.0"

// mpiLibrary returns the MPI library that libtpsl will load for a program: that of TPSL_MPI_LIBRARY, else MPICH's.
func mpiLibrary(env []string, program *image.Image, libraries *search.Path) (file string, err error) {
	libraries = libraries.PassingOver(func(m *image.Image) bool { return m.Auxiliary == soname.Libtpsl })
	names := soname.MPI
	if asked, _ := plan.Getenv(env, "TPSL_MPI_LIBRARY"); asked != "" {
		names = []string{asked}
	}
	for _, name := range names {
		if file, err = libraries.Find(name, program); err == nil {
			return file, nil
		}
	}
	return "", err
}

func (p *proxy) rdmaError(t *ib.Trouble) error { return fmt.Errorf("host %s: %s", p.host.Name, t) }

// tellRDMA says of a trouble once in each way, and no more when the job has ended for it.
func (p *proxy) tellRDMA(kind channel.Kind, t *ib.Trouble) {
	p.rdma.mu.Lock()
	defer p.rdma.mu.Unlock()
	line := p.rdmaError(t).Error()
	if before := p.rdma.told[line]; before == kind || before == channel.Failed {
		return
	}
	if p.rdma.told == nil {
		p.rdma.told = map[string]channel.Kind{}
	}
	p.rdma.told[line] = kind
	if kind == channel.Explained {
		line = t.String() // mpiexec counts the hosts that say the same
	}
	p.conn.Send(kind, 0, []byte(line))
}
