// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"sync"
	"time"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/pmi"
)

// A proxyLink is the job's end of one proxy.
type proxyLink struct {
	plan   HostPlan
	conn   *channel.Conn
	remote Remote
	done   bool            // nothing more will come from it
	stdin  *channel.Window // nil unless a rank there reads it
	stop   func() error    // closes the channel and waits for the proxy's end
}

// startProxy starts the proxy of a host and reads its frames on a goroutine.
func (j *Job) startProxy(host HostPlan) error {
	remote, err := j.boot.Start(host)
	if err != nil {
		return err
	}
	link := &proxyLink{plan: host, conn: channel.New(remote.Out, remote.In), remote: remote}
	link.stop = sync.OnceValue(link.close)
	j.trace(host)
	link.conn.Send(channel.Launch, 0, host.Encode())
	if host.ReadsStdin() {
		link.stdin = channel.NewWindow(stdinWindow)
	}
	j.proxies = append(j.proxies, link)
	j.open++
	go j.receive(link)
	return nil
}

// receive serves what needs no decision of the job and passes the rest on as events.
func (j *Job) receive(link *proxyLink) {
	for {
		frame, err := link.conn.Receive()
		if err != nil {
			j.events <- event{link: link, err: err}
			return
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
		case channel.BarrierIn:
			j.barrier(link, frame)
		case channel.NameRequest:
			j.name(link, frame)
		default:
			j.events <- event{link: link, frame: frame}
		}
	}
}

// barrier lets the ranks that have arrived on a host into a barrier of many hosts.
func (j *Job) barrier(link *proxyLink, frame channel.Frame) {
	arrival, err := pmi.ParseArrival(frame.Body)
	if err != nil {
		j.events <- event{link: link, err: err}
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

// close ends the channel and waits for the proxy; one that stays is killed.
func (link *proxyLink) close() error {
	link.conn.Close()
	killer := time.AfterFunc(proxyLimit, link.remote.Kill)
	defer killer.Stop()
	return link.remote.Wait()
}

func (link *proxyLink) ranks() string {
	var ranks []int
	for _, set := range link.plan.Sets {
		ranks = append(ranks, set.Ranks...)
	}
	return rankList(ranks)
}
