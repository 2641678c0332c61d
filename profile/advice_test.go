// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// advised returns what is advised, each with its reason.
func advised(p *Profile) (lines []string) {
	for _, a := range p.summarize().advice() {
		lines = append(lines, a.text+" "+a.reason)
	}
	return lines
}

func TestNothingToAdvise(t *testing.T) {
	p := ranksOf(Rank{Elapsed: 10, MPI: 0.25}, Rank{Elapsed: 10, MPI: 0.25})
	assert.Equal(t, []string{"Nothing stands out. Ranks are in MPI for 2.5 % of their time. "}, advised(p))
	assert.Equal(t, "None. All compute about equally long: at most 1.00 times the mean of 9.75 s.", p.summarize().slowRank())
}

func TestAdviseBalance(t *testing.T) {
	p := ranksOf(Rank{Elapsed: 10, MPI: 6}, Rank{Elapsed: 10, MPI: 2}, Rank{Elapsed: 10, MPI: 4})
	assert.Equal(t, []string{"Give rank 1 less to compute, or its CPU more: the job would end up to 2.00 s earlier if all computed alike. " +
		"Load balance is 75 %: rank 1 on n1 computes for 8.00 s, the mean is 6.00 s."}, advised(p))
	assert.Equal(t, "Rank 1 on n1: it computes for 8.00 s, 1.33 times the mean of 6.00 s.", p.summarize().slowRank())
}

func TestLittleImbalance(t *testing.T) {
	p := ranksOf(Rank{Elapsed: 10, MPI: 9.99}, Rank{Elapsed: 10, MPI: 9.97})
	assert.Equal(t, "None that matters. Rank 1 computes longest, for 30.0 ms of 10.0 s.", p.summarize().slowRank())
	assert.NotContains(t, strings.Join(advised(p), ""), "less to compute")
	p = ranksOf(Rank{Elapsed: 1, MPI: 1}, Rank{Elapsed: 1, MPI: 1})
	assert.Equal(t, "None. All compute about equally long: at most 1.00 times the mean of 0 s.", p.summarize().slowRank())
}

func TestAdviseDelays(t *testing.T) {
	equal := Rank{Elapsed: 1, MPI: 0.05}
	p := ranksOf(equal, equal, equal)
	for i, late := range []float64{-0.001, 0.0031, -0.0021} {
		p.Ranks[i].Calls = []Calls{lateBy(late)}
		p.Ranks[i].Calls[0].Time = 0.01
	}
	assert.Equal(t, []string{"Rank 1 enters MPI_Allreduce in solver.c:212 3.10 ms later than the mean. Look at what it does before. " +
		"On average of 10 calls, on MPI_COMM_WORLD. An average member waits about 31.0 ms for it in all. Rank 2 is the earliest, by 2.10 ms."}, advised(p))

	p.Ranks[1].MPI = 0.06
	assert.Contains(t, advised(p)[0], "3.10 ms later than the mean. It computes no longer than the mean, so look at whom it waits for before. ")

	p.Hosts = []Host{{Name: "n1"}, {Name: "n2", ClockError: 0.01}}
	p.Ranks[1].Host = 1
	assert.NotContains(t, strings.Join(advised(p), ""), "later than", "the clocks are not exact enough")
}

// busyExchange is exchange with each rank in a process of its own on one host, and a hundred thousand times as much.
func busyExchange(elapsed, mpi float64) *Profile {
	p := exchange()
	for i := range p.Ranks {
		r := &p.Ranks[i]
		r.Elapsed, r.MPI, r.Process, r.Host = elapsed, mpi, i, 0
		for j := range r.Peers {
			for _, a := range []*Amount{&r.Peers[j].Sent, &r.Peers[j].Received} {
				a.Count, a.Bytes = 100_000*a.Count, 100_000*a.Bytes
			}
		}
	}
	return p
}

func TestAdviseProcesses(t *testing.T) {
	p := busyExchange(10, 5)
	all := strings.Join(advised(p), "\n")
	assert.Contains(t, all, "Try mpiexec -rpp 4, which puts as many ranks into a process: 100 % of bytes stay in the process then, 0 % with -rpp 1 as it was. What time that gains is not known: ")
	p.Ranks[1].Peers = p.Ranks[1].Peers[:1]
	p.Ranks[2].Peers = p.Ranks[2].Peers[:1]
	assert.Contains(t, strings.Join(advised(p), "\n"), "Try mpiexec -rpp 2, which puts as many ranks into a process: 100 % of bytes", "more than that keeps nothing more inside")
	p.Ranks[0].Peers = append(p.Ranks[0].Peers, Peer{Rank: 3, Sent: Amount{100_000, 400_000}})
	assert.Contains(t, strings.Join(advised(p), "\n"), "Try mpiexec -rpp 2, which puts as many ranks into a process: 99 % of bytes", "or hardly more")
	for i := range p.Ranks {
		p.Ranks[i].Process = i / 2
	}
	assert.NotContains(t, strings.Join(advised(p), "\n"), "-rpp")
	p = busyExchange(10_000, 5)
	assert.NotContains(t, strings.Join(advised(p), "\n"), "-rpp", "4,100,000 messages in 40,000 s")
}

func TestAdviseWaits(t *testing.T) {
	for function, want := range map[string]string{
		"MPI_Barrier": "MPI_Barrier in halo.c:88 takes 30 % of all ranks' time. Ask whether the barrier is needed",
		"MPI_Bcast":   "MPI_Bcast in halo.c:88 takes 30 % of all ranks' time. Call it less often",
		"MPI_Waitall": "MPI_Waitall in halo.c:88 takes 30 % of all ranks' time. Post the receives earlier",
		"MPI_Isend":   "Nothing stands out.",
	} {
		r := Rank{Elapsed: 10, MPI: 3, Calls: []Calls{{Function: function, Place: 1, Communicator: Other, Calls: 3, Time: 3, Min: 0.5}}}
		assert.Contains(t, advised(ranksOf(r, r))[0], want)
	}
	r := Rank{Elapsed: 10, MPI: 3, Calls: []Calls{{Function: "MPI_Bcast", Place: 1, Communicator: Other, Calls: 3, Time: 3, Min: 0.001}}}
	assert.Contains(t, advised(ranksOf(r, r))[0], "MPI_Bcast in halo.c:88 takes 30 % of all ranks' time. Its shortest call takes 1.00 ms, so most of that is waiting: see that all come at the same time.")
}

func TestAdvisePollingAndSmallMessages(t *testing.T) {
	p := ranksOf(Rank{Elapsed: 10, MPI: 3, Calls: []Calls{{Function: "MPI_Iprobe", Calls: 1000, Time: 2}, {Function: "MPI_Test", Calls: 1000, Time: 0.5}},
		Sizes: []Size{{Messages, 8, 900_000, 7_200_000}, {Messages, 256, 100_000, 25_600_000}, {Collective, 8, 9_000_000, 72_000_000}}})
	all := strings.Join(advised(p), "\n")
	assert.Contains(t, all, "MPI_Test, MPI_Iprobe and their like take 25 % of all ranks' time. 2,000 calls, 1.25 ms each.")
	assert.Contains(t, all, "Put small messages together: 90 % of 1,000,000 messages have fewer than 256 bytes. Each rank sends 90,000 of them in a second.")
	assert.Less(t, strings.Index(all, "MPI_Test"), strings.Index(all, "small messages"), "more is at stake")
	p.Ranks[0].Sizes[0].Count = 900
	assert.NotContains(t, strings.Join(advised(p), "\n"), "small messages")
}

func TestAdviseShort(t *testing.T) {
	run := func(rest float64) *Profile {
		return ranksOf(Rank{Elapsed: 3 + rest, MPI: 3, Calls: startsAndEnds("MPI_Init", 2, 1)})
	}
	short := advised(run(0.5))
	assert.Equal(t, "Measure a longer run: MPI_Init and MPI_Finalize take 86 % of the ranks' whole time, and between them are only 500 ms. In so short a time, first calls weigh much that are slower than later ones.", short[len(short)-1])
	assert.NotContains(t, strings.Join(advised(run(2)), ""), "longer run", "what is left is long enough")
	assert.Equal(t, "None: no call that was counted waits.", run(2).summarize().waitingLine())
}

// Where ranks have too few CPUs, that is said first, in the head, and behind what is said of waiting.
func TestCrowd(t *testing.T) {
	r := Rank{Elapsed: 10, MPI: 6, Calls: []Calls{{Function: "MPI_Waitall", Place: 1, Communicator: None, Calls: 3, Time: 6}}}
	p := ranksOf(r, r, r, Rank{Elapsed: 10, MPI: 1})
	p.Hosts = []Host{{Name: "n1", CPUs: 2}, {Name: "n2", CPUs: 1}, {Name: "n1", CPUs: 2}}
	p.Ranks[2].Host, p.Ranks[3].Host = 2, 1
	assert.Equal(t, []string{"3 ranks share 2 CPUs on n1: ranks that wait keep CPUs busy, so most time in MPI may be waiting for a CPU."}, p.summarize().unusual())
	all := advised(p)
	assert.Equal(t, "Start fewer ranks, or take more hosts: 3 ranks share 2 CPUs on n1. Ranks that wait keep CPUs busy, so most time in MPI may be waiting for a CPU. Times outside of MPI contain such waiting, too.", all[0])
	assert.Contains(t, strings.Join(all[1:], "\n"), "MPI_Waitall in halo.c:88 takes 45 % of all ranks' time. Post")
	assert.Contains(t, all[len(all)-1], " With 3 ranks on 2 CPUs, this may as well be waiting for a CPU.")
	assert.Contains(t, p.summarize().waitingLine(), "With 3 ranks on 2 CPUs")

	for i := range p.Ranks {
		p.Ranks[i].Host = 1
	}
	p.Ranks[0].Host, p.Ranks[1].Host, p.Ranks[2].Host, p.Hosts[2].CPUs = 0, 0, 0, 1
	p.Hosts[0].CPUs = 1
	assert.Equal(t, "3 ranks share 1 CPU on n1", p.summarize().crowded())
	p.Ranks[2].Host = 1
	assert.Equal(t, "2 ranks share 1 CPU on n1 (1 more host like this)", p.summarize().crowded())
	for _, cpus := range []int{0, 4} {
		for i := range p.Hosts {
			p.Hosts[i].CPUs = cpus
		}
		assert.Empty(t, p.summarize().crowded(), "not known, or as many as there are ranks")
		assert.NotContains(t, strings.Join(advised(p), ""), "CPUs")
	}
}

// The line with most time is named, also if sums do not tell how much of it is waiting; the table has a dash for that.
func TestUnknownWaiting(t *testing.T) {
	calls := func(wait float64) []Calls {
		return []Calls{reduce(1 + wait), {Function: "MPI_Waitall", Place: 1, Communicator: None, Calls: 10, Time: 5}, {Function: "MPI_Isend", Place: 1, Calls: 10, Time: 0.1}}
	}
	p := ranksOf(Rank{Elapsed: 10, MPI: 7.1, Calls: calls(1)}, Rank{Elapsed: 10, MPI: 6.1, Calls: calls(0)})
	assert.Equal(t, "halo.c:88: MPI_Waitall takes 50 % of all ranks' time; how much of it is waiting is not known.", p.summarize().waitingLine())
	p.Ranks[0].Calls[1].Time = 0.5
	assert.Equal(t, "halo.c:88: MPI_Waitall takes 28 % of all ranks' time; how much of it is waiting is not known. "+
		"Next is solver.c:212: MPI_Allreduce takes 15 % of all ranks' time, and at least 5.0 % is waiting for other ranks.", p.summarize().waitingLine())
	text := textOfProfile(t, p)
	assert.Regexp(t, `15 % +5\.0 % +20 .* MPI_Allreduce`, text)
	assert.Regexp(t, `28 % +- +20 .* MPI_Waitall`, text)
	assert.Regexp(t, `1\.0 % +0 % +20 .* MPI_Isend`, text)
}

// What gains a known time comes before what takes more, and a layout whose gain is not known comes behind both.
func TestOrderOfAdvice(t *testing.T) {
	p := busyExchange(10, 9)
	all := advised(p)
	assert.Contains(t, all[0], "Nothing stands out.", "a layout is never first")
	assert.Contains(t, all[1], "Try mpiexec -rpp 4, which")
	p.Ranks[0].MPI = 8
	p.Ranks[0].Calls = []Calls{{Function: "MPI_Recv", Communicator: None, Calls: 1, Time: 8}}
	all = advised(p)
	assert.Len(t, all, 3)
	for i, want := range []string{"less to compute", "MPI_Recv in", "-rpp 4"} {
		assert.Contains(t, all[i], want)
	}
}

// A made-up job has each trouble that the generator puts into it, and readers find it in the answers.
func TestAnswers(t *testing.T) {
	s := madeUp(64, 8, 2).summarize()
	var answers []string
	for _, a := range s.answers() {
		answers = append(answers, a.text)
	}
	assert.Regexp(t, `^Rank 36 on node02: it computes for 81.0 s, 1\.2\d times the mean of 6\d\.\d s\.$`, answers[0])
	assert.Regexp(t, `^solver.c:212: MPI_Allreduce takes 2\d % of all ranks' time, and at least 1\d % is waiting for other ranks\.$`, answers[1])
	assert.Regexp(t, `^\d\d % of \d+\.\d+ GiB, with up to 8 ranks in a process, as its threads\.$`, answers[2])
	assert.Regexp(t, `^Yes\. \d\d % of .* go between hosts, .* MiB/s for each host\.$`, answers[3])
	assert.Equal(t, s.advice()[0].text, answers[4])
	lines := strings.Join(advised(s.Profile), "\n")
	assert.Contains(t, lines, "Rank 36 enters MPI_Allreduce in solver.c:212 8.50 ms later than the mean.")
	assert.Contains(t, lines, "Try mpiexec -rpp 32")
}

func TestAnswersOfOneRank(t *testing.T) {
	s := ranksOf(Rank{Elapsed: 1}).summarize()
	assert.Equal(t, "There is one rank only.", s.slowRank())
	assert.Equal(t, "No. All ranks are on one host, n1.", s.network())
	assert.Equal(t, "No rank brought data to another one.", s.staysInside())
	p := ranksOf(Rank{}, Rank{})
	p.Ranks[0].Counted, p.Ranks[1].Counted = false, false
	s = p.summarize()
	assert.Equal(t, "No rank was counted.", s.slowRank())
	assert.Equal(t, "Run a program that calls MPI: nothing was counted of this one.", s.answers()[4].text)
	assert.NotContains(t, textOfProfile(t, p), "fficiency")
	assert.NotContains(t, pageOf(t, p), "fficiency<")
}
