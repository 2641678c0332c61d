// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"slices"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/launch"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/pmi"
)

// A proxyLink is what the job knows of one proxy, and its connection to it.
type proxyLink struct {
	world     *world
	host      plan.Host
	conn      *channel.Conn
	placement plan.Placement // as planned, until the proxy tells what its hardware has decided
	pids      []int          // of the processes of the rank sets; nil until all of them run
	pmix      bool           // the proxy serves its ranks by PMIx
	asked     []event        // questions about its ranks that came before it was known whether it serves PMIx
	where     channel.Location
	stacks    []channel.RankStack
	clock     hostClock
	cpus      int              // on which its ranks may run; 0 until a profile tells
	samples   *channel.Samples // the last ones; nil if it has told none
	done      bool             // it has sent everything
	stdin     *channel.Window  // nil if none of its ranks reads stdin
}

// startProxies starts a proxy on each host of the world. It does not wait: the proxies answer when they run.
func (j *Job) startProxies(w *world) {
	var hosts []launch.Host
	for _, host := range w.plan.Hosts {
		hosts = append(hosts, launch.Host{ID: host.ID, Key: host.Key(), Name: host.Name, User: host.User, Ranks: host.LocalRanks()})
	}
	conns := map[int]*channel.Conn{}
	var children []*launch.Child
	for _, branch := range launch.Tree(hosts, j.launch) {
		child := j.children.Add(branch, w.plan.Size)
		children = append(children, child)
		for _, id := range branch.IDs() {
			conns[id] = child.Trunk.Conn(id)
		}
	}
	for _, host := range w.plan.Hosts {
		j.addProxy(w, host, conns[host.ID])
	}
	if err := j.children.Expect(hosts); err != nil {
		j.outcome.fail(err.Error())
	}
	for _, child := range children {
		child.Start()
	}
}

// checkUsers refuses a user as whom the launcher cannot log in.
func (j *Job) checkUsers() error {
	for _, host := range j.plan.Hosts {
		if !j.launch.CanBe(host.User) {
			return fmt.Errorf("host %s: user=%s takes a launcher that logs in, and %s does not; leave it out, or choose -launcher ssh",
				host.Name, host.User, j.launch.Launcher)
		}
	}
	return nil
}

// addProxy sends a proxy its part of the plan and lists it.
func (j *Job) addProxy(w *world, host plan.Host, conn *channel.Conn) {
	link := &proxyLink{world: w, host: host, conn: conn, placement: host.AsPlanned()}
	j.trace(host)
	link.conn.SendValue(channel.Launch, host)
	if host.ReadsStdin() {
		link.stdin = channel.NewWindow(stdinWindow)
	}
	w.links = append(w.links, link)
	j.linking.Lock()
	defer j.linking.Unlock()
	j.proxies = append(j.proxies, link)
	j.open++
}

// proxy returns the link of a proxy, or nil.
func (j *Job) proxy(id int) *proxyLink {
	j.linking.Lock()
	defer j.linking.Unlock()
	if id < 0 || id >= len(j.proxies) {
		return nil
	}
	return j.proxies[id]
}

// below receives what the proxies send. Its methods run on goroutines of their connections, not on that of the job.
type below struct{ *Job }

// Lost implements launch.Events.
func (j below) Lost(child *launch.Child, loss channel.Loss) {
	j.events <- event{link: j.proxy(child.Host.ID), loss: &loss}
}

// Frame serves output, credit, barriers and names at once, and passes the rest on to the job's goroutine as events.
func (j below) Frame(_ *launch.Child, frame channel.Frame) {
	link := j.proxy(frame.Proxy)
	if link == nil {
		return // there is no such proxy
	}
	switch frame.Kind {
	case channel.Stdout:
		j.stdout.write(link, frame)
	case channel.Stderr:
		j.stderr.write(link, frame)
	case channel.Credit:
		if stream, n := frame.CreditOf(); stream == channel.Stdin && link.stdin != nil {
			link.stdin.Release(n)
		}
	case channel.StdinClosed:
		if link.stdin != nil {
			link.stdin.Close()
		}
	case channel.Placed:
		j.placed(link, frame)
	case channel.BarrierIn:
		j.barrier(link, frame)
	case channel.NameRequest:
		j.name(link, frame)
	case channel.Lost:
		var loss channel.Loss
		unknown := func(id int) bool { return j.proxy(id) == nil }
		if frame.Value(&loss) == nil && !slices.ContainsFunc(loss.Proxies, unknown) {
			j.events <- event{link: link, loss: &loss}
		}
	default:
		j.events <- event{link: link, frame: frame}
	}
}

// placed records the placement that a proxy has decided. It prints the report in it immediately, so that the report comes before all
// output of the host's ranks.
func (j *Job) placed(link *proxyLink, frame channel.Frame) {
	var placement plan.Placement
	if err := frame.Value(&placement); err != nil {
		j.events <- event{link: link, frame: channel.Frame{Kind: channel.Failed, Body: []byte(err.Error())}}
		return
	}
	for _, line := range placement.Report {
		j.stderr.line("mpiexec: " + line)
	}
	j.events <- event{link: link, placement: &placement}
}

// garbled ends the job because a proxy has sent a frame that cannot be read.
func (j *Job) garbled(link *proxyLink, err error) {
	j.outcome.fail(fmt.Sprintf("proxy on %s: %v", link.host.Name, err))
	j.end()
}

// barrier enters the ranks of a host that have arrived into a barrier of several hosts.
func (j *Job) barrier(link *proxyLink, frame channel.Frame) {
	arrival, err := pmi.ParseArrival(frame.Body)
	if err != nil {
		j.events <- event{link: link, frame: channel.Frame{Kind: channel.Failed, Body: []byte(err.Error())}}
		return
	}
	link.world.gather.Enter(arrival, func(union []pmi.Entry, err error) {
		if err == nil {
			done := pmi.Arrival{Barrier: arrival.Barrier, Count: arrival.Count, Puts: union}
			link.conn.Send(channel.BarrierOut, 0, done.Append(nil))
		}
	})
}

// name serves a request to the name service. A lookup that waits is answered later.
func (j *Job) name(link *proxyLink, frame channel.Frame) {
	var request channel.Name
	answer := func(port string, err error) {
		reply := channel.Name{Port: port}
		if err != nil {
			reply.Error = err.Error()
		}
		link.conn.Answer(frame.Index, reply)
	}
	if err := frame.Value(&request); err != nil {
		answer("", err)
		return
	}
	switch {
	case request.Op == "publish":
		answer("", j.names.Publish(request.Service, request.Port, request.Once))
	case request.Op == "unpublish":
		answer("", j.names.Unpublish(request.Service))
	case request.Wait > 0:
		j.names.Await(request.Service, request.Wait, answer)
	default:
		answer(j.names.Lookup(request.Service))
	}
}
