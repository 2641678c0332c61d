// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plots

import (
	"slices"
	"strings"
)

// A figure says which benchmarks it shows, and where. A benchmark's keys are its
// place on the x axis, its panel, fixed values, and else its line.
type figure struct {
	file, title string
	kind        string            // of benchmarks
	x           string            // the key
	yTitle      string            // "": the unit
	panel       string            // the key, or "" for one panel
	fixed       map[string]string // values of keys
	// least is how many places on the x axis make a panel.
	least int
	// leastLines is how many lines in a panel do.
	leastLines int
	log        bool // the y axis
	// speedup shows how often faster than at 1 on the x axis.
	speedup bool
	// each shows a share of the value: it is divided by the place on the x axis.
	each   bool
	limits []limit
}

// A limit is what the hardware allows, drawn as a dashed line: a benchmark with
// the figure's x key, or without it and level.
type limit struct {
	kind, label string
	factor      float64 // from its unit to the figure's
}

var (
	handOver = limit{"HandOver", "a cache line handed over", 1e-3}
	memcpy   = limit{"Memcpy", "one memcpy", 1}
)

var figures = slices.Concat(general, shared(), perMode("threads", "one node"), perMode("hosts", "two hosts"), perMode("guests", "two hosts by RDMA"))

var general = []figure{
	{file: "latency", title: "Latency of one pair of ranks", kind: "Latency", x: "size", panel: "between",
		fixed: onePair, least: 2, log: true, limits: []limit{handOver}},
	{file: "latency-pairs", title: "Latency of an 8-byte message by pairs of ranks", kind: "Latency", x: "pairs", panel: "between",
		fixed: map[string]string{"size": "8"}, least: 2, log: true, limits: []limit{handOver}},
	{file: "rate", title: "Message rate of one pair of ranks", kind: "Rate", x: "size", panel: "between",
		fixed: onePair, least: 2, log: true},
	{file: "rate-pairs", title: "Message rate of 8-byte messages by pairs of ranks", kind: "Rate", x: "pairs", panel: "between",
		fixed: map[string]string{"size": "8"}, least: 2},
	{file: "bandwidth", title: "Bandwidth of one pair of ranks", kind: "Bandwidth", x: "size", panel: "between",
		fixed: onePair, least: 2, log: true, limits: []limit{memcpy}},
	{file: "bandwidth-both-ways", title: "Bandwidth in both directions of one pair of ranks", kind: "BiBandwidth", x: "size", panel: "between",
		fixed: onePair, least: 2, log: true, limits: []limit{memcpy}},
	{file: "halo-xz", title: "Halo exchange of the X-Z plane", kind: "Halo", x: "threads", panel: "mode",
		fixed: map[string]string{"plane": "xz"}, least: 2, speedup: true, yTitle: "times as fast as with one thread"},
	{file: "halo-yz", title: "Halo exchange of the Y-Z plane", kind: "Halo", x: "threads", panel: "mode",
		fixed: map[string]string{"plane": "yz"}, least: 2, speedup: true, yTitle: "times as fast as with one thread"},
	{file: "collectives", title: "Collective operations", kind: "Collective", x: "size", panel: "op", least: 1, log: true},
	{file: "overlap", title: "Communication hidden behind computation", kind: "Overlap", x: "size", least: 2},
	{file: "startup", title: "Start and end of a job", kind: "Startup", x: "ranks", panel: "setting", least: 1, log: true},
	{file: "startup-rank", title: "Start and end of a job, for each of its ranks", kind: "Startup", x: "ranks", panel: "setting", least: 6, log: true,
		each: true, yTitle: "milliseconds for each rank"},
	{file: "memory", title: "Memory of a rank", kind: "Memory", x: "ranks", least: 1},

	// Of the message engine.
	{file: "match", title: "A message to one of many pending receives", kind: "Match", x: "pending", least: 2, log: true},
	{file: "table", title: "Matching alone", kind: "Table", x: "pending", least: 2, log: true},
	{file: "packets", title: "A packet taken and given back", kind: "Packets", x: "threads", least: 2, log: true},
	{file: "threads", title: "User-level threads that talk", kind: "Threads", x: "threads", panel: "shape", least: 2, log: true},
	{file: "thread-memory", title: "Memory of a user-level thread", kind: "ThreadMemory", x: "threads", panel: "shape", least: 2},
	{file: "uts", title: "Unbalanced tree search", kind: "UTS", x: "threads", fixed: plain, least: 2},
	{file: "bfs", title: "Breadth-first search", kind: "BFS", x: "threads", fixed: plain, least: 2},
	{file: "sweep", title: "Sweep", kind: "Sweep", x: "threads", fixed: plain, least: 2},
}

// onePair are the runs of one pair that have no word about rails.
var onePair = map[string]string{"pairs": "1", "rails": ""}

// plain are the applications' runs by goroutines, each with a port of its own.
var plain = map[string]string{"mates": "1", "matcher": "table", "as": "goroutines"}

// shared are those of a port of the message engine that threads share: by threads, and by size.
func shared() (all []figure) {
	for op, title := range map[string]string{
		"isend": "Messages of threads that share a port and send", "irecv": "Messages of threads that share a port and receive",
		"pingpong": "Round trips of threads that share a port", "self": "Messages of threads to their own port",
	} {
		f := figure{kind: "Share", log: true, least: 2}
		byThreads, bySize := f, f
		byThreads.file, byThreads.title, byThreads.x = "share-"+op, title+", 64 bytes", "threads"
		byThreads.fixed = map[string]string{"op": op, "size": "64"}
		bySize.file, bySize.title, bySize.x = "share-"+op+"-size", title+", 4 threads", "size"
		bySize.fixed = map[string]string{"op": op, "threads": "4"}
		all = append(all, byThreads, bySize)
	}
	slices.SortFunc(all, func(a, b figure) int { return strings.Compare(a.file, b.file) })
	return all
}

// perMode are figures 3 to 8 of the paper on TPSL: a panel for each mode, with a line for
// each number of pairs.
func perMode(between, where string) (all []figure) {
	for _, f := range []figure{
		{file: "latency", title: "Latency", kind: "Latency"},
		{file: "rate", title: "Message rate", kind: "Rate"},
		{file: "bandwidth", title: "Bandwidth", kind: "Bandwidth"},
	} {
		f.file += "-modes-" + between
		f.title += " by mode and pairs of ranks, " + where
		f.x, f.panel, f.log, f.least, f.leastLines = "size", "mode", true, 2, 2
		f.fixed = map[string]string{"between": between, "model": "", "halves": "", "rails": ""} // the engine's ways are no modes
		all = append(all, f)
	}
	return all
}

// words are what a reader is told in place of keys' values.
var words = map[string]string{
	"between=threads":   "ranks of one process",
	"between=processes": "ranks of two processes",
	"between=hosts":     "ranks on two hosts",
	"between=guests":    "ranks on two hosts, RDMA",
	"mode=flat":         "flat MPI",
	"mode=tags":         "threaded MPI, tags",
	"mode=comms":        "threaded MPI, communicators",
	"mode=threaded":     "threaded MPI",
	"mode=tpsl":         "tpsl",
	"mode=private":      "tpsl, private mode",
	"mode=engine":       "message engine",
	"halves=off":        "one copy",
	"matcher=table":     "hash table",
	"matcher=queues":    "two queues",
	"grid=cube":         "cube",
	"grid=x":            "large X",
	"grid=y":            "large Y",
	"grid=z":            "large Z",
	"mode=flat-yields":  "flat MPI, libtpslyield",
	"setting=default":   "by default",
	"setting=nolocal":   "no shared memory",
	"setting=best":      "best setting",
	"by=mpiexec":        "mpiexec",
	"by=mpiexec.hydra":  "mpiexec.hydra",
	"pairs=1":           "1 pair",
	"size":              "size of a message (bytes)",
	"pairs":             "pairs of ranks",
	"threads":           "threads",
	"ranks":             "ranks",
	"pending":           "pending receives",
	"us/msg":            "microseconds",
	"us/call":           "microseconds",
	"ns/msg":            "nanoseconds per message",
	"ns/match":          "nanoseconds per match",
	"ns/packet":         "nanoseconds per packet",
	"B":                 "bytes",
	"by=switch":         "signal and switch",
	"by=messages":       "message",
	"ns/step":           "nanoseconds per cell, angle and group",
	"MTEPS":             "million edges traversed per second",
	"Mnodes/s":          "million nodes per second",
	"us/exchange":       "microseconds",
	"Mmsg/s":            "million messages per second",
	"GB/s":              "GB/s",
	"ms/job":            "milliseconds",
	"MiB/rank":          "MiB per rank",
	"percent":           "per cent",
}
