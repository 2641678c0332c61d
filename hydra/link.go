// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/launch"
	"github.com/tpsl/tpsl/pmi"
)

// A proxyLink is the job's end of one proxy.
type proxyLink struct {
	plan  HostPlan
	conn  *channel.Conn
	done  bool            // nothing more will come from it
	stdin *channel.Window // nil unless a rank there reads it
}

// startProxies starts the proxies of all hosts. That they run is known when they answer.
func (j *Job) startProxies() error {
	var hosts []launch.Host
	for _, host := range j.plan.Hosts {
		hosts = append(hosts, launch.Host{ID: host.ID, Name: host.Host, User: host.User, Ranks: host.Ranks})
	}
	launcher, err := launch.New(j.launch)
	if err != nil {
		return err
	}
	j.children = launch.NewChildren(launcher, launch.NewSecret(), j.launch, below{j})
	var children []*launch.Child
	for i, plan := range j.plan.Hosts {
		children = append(children, j.children.Add(hosts[i]))
		j.addProxy(plan, children[i].Trunk.Conn(plan.ID))
	}
	for _, child := range children {
		child.Start()
	}
	return nil
}

// addProxy gives a proxy its orders.
func (j *Job) addProxy(plan HostPlan, conn *channel.Conn) {
	link := &proxyLink{plan: plan, conn: conn}
	j.trace(plan)
	link.conn.Send(channel.Launch, 0, plan.Encode())
	if plan.ReadsStdin() {
		link.stdin = channel.NewWindow(stdinWindow)
	}
	j.proxies = append(j.proxies, link)
	j.open++
}

// below is what the job hears from its proxies.
type below struct{ *Job }

// Lost implements launch.Events.
func (j below) Lost(child *launch.Child, loss channel.Loss) {
	j.events <- event{link: j.proxies[child.Host.ID], loss: &loss}
}

// Frame serves what needs no decision of the job and passes the rest on as events.
func (j below) Frame(_ *launch.Child, frame channel.Frame) {
	if frame.Proxy >= len(j.proxies) {
		return // of nobody's
	}
	link := j.proxies[frame.Proxy]
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
	default:
		j.events <- event{link: link, frame: frame}
	}
}

// garbled ends the job as a proxy does not speak our language.
func (j *Job) garbled(link *proxyLink, err error) {
	j.outcome.fail(fmt.Sprintf("proxy on %s: %v", link.plan.Host, err))
	j.end()
}

// barrier lets the ranks that have arrived on a host into a barrier of many hosts.
func (j *Job) barrier(link *proxyLink, frame channel.Frame) {
	arrival, err := pmi.ParseArrival(frame.Body)
	if err != nil {
		j.events <- event{link: link, frame: channel.Frame{Kind: channel.Failed, Body: []byte(err.Error())}}
		return
	}
	j.root.Enter(arrival, func(union []pmi.Entry, err error) {
		if err == nil {
			done := pmi.Arrival{Barrier: arrival.Barrier, Count: arrival.Count, Puts: union}
			link.conn.Send(channel.BarrierOut, 0, done.Append(nil))
		}
	})
}

func (j *Job) name(link *proxyLink, frame channel.Frame) {
	var request channel.Name
	err := frame.Value(&request)
	reply := channel.Name{ID: request.ID}
	if err == nil {
		service := string(request.Service)
		switch request.Op {
		case "publish":
			err = j.root.Publish(service, string(request.Port))
		case "lookup":
			var port string
			port, err = j.root.Lookup(service)
			reply.Port = []byte(port)
		case "unpublish":
			err = j.root.Unpublish(service)
		}
	}
	if err != nil {
		reply.Error = err.Error()
	}
	link.conn.SendValue(channel.NameReply, reply)
}

func (link *proxyLink) ranks() string {
	var ranks []int
	for _, set := range link.plan.Sets {
		ranks = append(ranks, set.Ranks...)
	}
	return rankList(ranks)
}
