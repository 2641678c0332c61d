// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"slices"
	"strings"
)

// A Want is what a rank's settings for UCX let it send by.
type Want struct {
	RDMA    bool     // they name it: a transport of UCX_TLS, or a port in UCX_NET_DEVICES
	TCP     bool     // network interfaces may serve in its place
	Memory  bool     // shared memory may, between ranks of one host
	Self    bool     // a rank may send to itself
	Ports   []string // of UCX_NET_DEVICES; nil: any
	Bare    []string // other words there, where UCX_TLS names RDMA: interfaces, or devices without a port
	Light   bool     // of RDMA transports only datagrams, which need little memory
	Tuned   bool     // the user has settled how much memory is registered
	tls     string   // UCX_TLS
	devices string   // UCX_NET_DEVICES
}

// ReadWant reads settings, which are those of one environment.
func ReadWant(environ []string) (w Want) {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case name == "UCX_TLS":
			w.tls = value
		case name == "UCX_NET_DEVICES":
			w.devices = value
		case strings.HasPrefix(name, "UCX_") && (strings.HasSuffix(name, "_QUEUE_LEN") || strings.HasSuffix(name, "SEG_SIZE")):
			w.Tuned = true
		}
	}
	tls, devices := readTransports(w.tls), readDevices(w.devices)
	if !devices.negated && !devices.all {
		w.Ports = slices.DeleteFunc(slices.Clone(devices.words), func(word string) bool { return !isPort(word) })
	}
	if tls.names(isRDMA) && w.Ports != nil {
		w.Bare = slices.DeleteFunc(slices.Clone(devices.words), isPort)
	}
	w.RDMA = !devices.vague() && devices.allows(isPort) &&
		(tls.names(isRDMA) || len(w.Ports) > 0 && tls.allows(isRDMA, "ib"))
	w.TCP = tls.allows(isTCP, "tcp") && devices.allows(func(word string) bool { return !isPort(word) })
	w.Memory = tls.allows(isMemory, "sm", "shm", "mm")
	w.Self = tls.allows(func(word string) bool { return word == "self" }, "self")
	w.Light = tls.names(isDatagram) && !tls.names(isConnected)
	return w
}

// A choice is a list of UCX's: words, all but the words after "^", or "all". What it means here is what UCX 1.13.1 does.
type choice struct {
	words        []string
	all, negated bool
}

// readTransports reads UCX_TLS. After other words "all" says nothing; before them it is an error, which is UCX's to tell.
func readTransports(text string) choice {
	rest, negated := strings.CutPrefix(text, "^")
	words := strings.Split(rest, ",")
	return choice{words, !negated && (rest == "" || words[0] == "all"), negated}
}

// readDevices reads UCX_NET_DEVICES, where "all" may stand anywhere.
func readDevices(text string) choice {
	rest, negated := strings.CutPrefix(text, "^")
	words := strings.Split(rest, ",")
	return choice{words, !negated && (rest == "" || slices.Contains(words, "all")), negated}
}

// vague reports whether the list of devices means something to some versions of UCX only: a port after "^", a wildcard.
func (c choice) vague() bool {
	return c.negated || slices.ContainsFunc(c.words, func(word string) bool { return strings.ContainsAny(word, "*?[") })
}

// names reports whether a word of the kind stands in the list, to be used.
func (c choice) names(kind func(string) bool) bool {
	return !c.all && !c.negated && slices.ContainsFunc(c.words, kind)
}

// allows reports whether the list leaves anything of a kind, whose families are those names: without one of its members,
// as in "^tcp_x" or "^posix", there are others.
func (c choice) allows(kind func(string) bool, families ...string) bool {
	if c.negated {
		return !slices.ContainsFunc(families, func(name string) bool { return slices.Contains(c.words, name) })
	}
	return c.all || slices.ContainsFunc(c.words, kind)
}

func (c choice) without(kind func(string) bool) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(c.words), kind), ",")
}

// The kinds of transports, by their names and families: rc, rc_x, rc_mlx5, and "ud:aux" for one that helps others.
func isConnected(word string) bool { return family(word, "rc", "dc", "ib") }
func isDatagram(word string) bool  { return family(word, "ud", "srd") }
func isRDMA(word string) bool      { return isConnected(word) || isDatagram(word) }
func isTCP(word string) bool       { return family(word, "tcp") }
func isMemory(word string) bool    { return family(word, "shm", "sm", "mm", "posix", "sysv", "xpmem") }

func family(word string, names ...string) bool {
	word, _, _ = strings.Cut(word, ":")
	word, _, _ = strings.Cut(word, "_")
	return slices.Contains(names, word)
}

// isPort tells mlx5_0:1 from eth0.
func isPort(word string) bool {
	_, number, found := strings.Cut(word, ":")
	return found && number != "" && strings.Trim(number, "0123456789") == ""
}

// wants reports whether a port is one of those that the settings allow.
func (w Want) wants(port string) bool { return w.Ports == nil || slices.Contains(w.Ports, port) }

// WithoutRDMA returns the settings with which ranks that may send by TCP or shared memory leave RDMA alone. UCX cannot be left to
// it: where a device is there, and memory cannot be registered with it, some ranks try that for ever.
func (w Want) WithoutRDMA() (settings []string) {
	tls := readTransports(w.tls)
	switch {
	case tls.names(isRDMA):
		settings = append(settings, "UCX_TLS="+tls.without(func(word string) bool { return isRDMA(word) || word == "all" }))
	case !w.TCP && tls.negated:
		settings = append(settings, "UCX_TLS="+w.tls+",ib")
	case !w.TCP:
		settings = append(settings, "UCX_TLS=^ib")
	}
	if w.TCP && len(w.Ports) > 0 {
		settings = append(settings, "UCX_NET_DEVICES="+readDevices(w.devices).without(isPort))
	}
	return settings
}

// allowTCP tells how to let TCP serve in place of RDMA.
func (w Want) allowTCP() string {
	var settings []string
	switch tls := readTransports(w.tls); {
	case tls.allows(isTCP, "tcp"):
	case tls.negated && len(tls.words) == 1:
		settings = append(settings, "UCX_TLS=all")
	case tls.negated:
		settings = append(settings, "UCX_TLS=^"+tls.without(isTCP))
	default:
		settings = append(settings, "UCX_TLS="+w.tls+",tcp")
	}
	if !readDevices(w.devices).allows(func(word string) bool { return !isPort(word) }) {
		settings = append(settings, "a network interface in UCX_NET_DEVICES")
	}
	return "allow TCP: " + strings.Join(settings, " and ")
}
