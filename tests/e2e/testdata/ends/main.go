// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command ends begins and ends jobs of the message engine in unusual ways. Its argument says which.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/job"
)

func main() {
	for name, way := range map[string]func() error{"waiting": closeWaiting, "again": startAgain, "refused": startRefused, "late": startLate, "once": startOnce, "wide": startWide} {
		if name == os.Args[1] {
			if err := way(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(3)
			}
			return
		}
	}
	panic(os.Args)
}

func start(o engine.Options) (*job.Job, error) { return job.Start(context.Background(), o) }

// closeWaiting closes the job while threads wait for messages and others begin to send.
func closeWaiting() error {
	const threads = 4
	j, err := start(engine.Options{Ports: threads})
	if err != nil {
		return err
	}
	ended := make(chan error)
	for i := range threads {
		p := j.Fabric.Port(j.First + i)
		go func() {
			b := make([]byte, 8)
			for n := 0; ; n++ {
				e := engine.Envelope{Peer: int32((j.First + i + n) % j.Fabric.Size())}
				err := p.Send(b, e)
				if n%100 == 0 && err == nil && i%2 == 0 {
					_, err = p.Recv(b, engine.Envelope{Peer: engine.AnySource, Tag: 1})
				}
				if err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	time.Sleep(20 * time.Millisecond)
	if err := j.Close(); err != nil {
		return err
	}
	for range threads {
		if err := <-ended; !errors.Is(err, engine.ErrClosed) && !errors.Is(err, engine.ErrPeerGone) {
			return fmt.Errorf("a call has returned %w", err)
		}
	}
	if err := j.Close(); !errors.Is(err, engine.ErrClosed) {
		return fmt.Errorf("the second Close has returned %w", err)
	}
	fmt.Println("closed")
	return nil
}

func startOnce() error {
	j, err := start(engine.Options{})
	if err != nil {
		return err
	}
	return j.Close()
}

// startWide starts with more ports than a process has that is not alone on its host.
func startWide() error {
	_, err := start(engine.Options{Ports: 5000})
	return err
}

// startAgain starts a second job. The launcher's descriptor is then one of a file.
func startAgain() error {
	j, err := start(engine.Options{})
	if err != nil {
		return err
	}
	if err := j.Close(); err != nil {
		return err
	}
	files := []*os.File{}
	for range 10 {
		f, err := os.CreateTemp(os.Args[2], "")
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	_, err = start(engine.Options{})
	fmt.Println(err)
	for _, f := range files {
		if info, err := f.Stat(); err != nil || info.Size() > 0 {
			return fmt.Errorf("%s has been written to: %w", f.Name(), err)
		}
	}
	return nil
}

// startRefused has a fabric in process 0 alone.
func startRefused() error {
	o := engine.Options{}
	if os.Getenv("PMI_RANK") == "1" {
		o.Ring = 3
	}
	j, err := start(o)
	if err != nil {
		return err
	}
	return j.Close()
}

// startLate waits for process 1, which has not so much time.
func startLate() error {
	limit, isLate := time.Minute, os.Getenv("PMI_RANK") == "1"
	if isLate {
		limit = time.Nanosecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_, err := job.Start(ctx, engine.Options{})
	if !isLate {
		time.Sleep(time.Hour) // the launcher ends this process, when process 1 has said why it ends
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("this is no error of the context: %w", err)
	}
	return err
}
