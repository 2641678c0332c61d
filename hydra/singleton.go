// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

// IsSingleton reports whether the job is one process that runs already, was started alone, and asks for a server.
func (o PMIOptions) IsSingleton() bool { return len(o.Singleton) > 0 }

// singleton is the segment of such a process. No program is started for it.
func (o PMIOptions) singleton() Segment {
	return Segment{Ranks: 1, PerProcess: 1, Mode: ModeAuto, Args: []string{"process " + o.Singleton[3]}}
}

// atHome places a singleton on the host it runs on, and leaves stdin to it.
func (o Options) atHome(host string) Options {
	if o.PMI.IsSingleton() {
		segment := o.PMI.singleton()
		segment.Hosts = host
		o.Segments = []Segment{segment}
		o.Stdio.Stdin = Ranks{}
		o.PMI.Port = false
	}
	return o
}
