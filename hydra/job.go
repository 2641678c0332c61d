// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/launch"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/procs"
	"github.com/tpsl/tpsl/pmi"
	"github.com/tpsl/tpsl/profile"
)

// A Job is a plan that runs.
type Job struct {
	plan    plan.Plan
	launch  launch.Options
	log     *slog.Logger
	stderr  *merger
	stdout  *merger
	names   pmi.Names
	timeout time.Duration

	signals      <-chan os.Signal
	events       chan event
	children     *launch.Children
	worlds       []*world     // the first is that of the command line
	linking      sync.Mutex   // guards proxies, which grows while goroutines of children read it
	proxies      []*proxyLink // by ID, those of all worlds
	open         int          // number of proxies that are not done
	outcome      Outcome
	began        time.Time
	lostProxy    bool             // a proxy died, so mpiexec removes what its ranks left behind
	ending       bool             // the proxies have the order to end their ranks
	forced       bool             // the job ends without waiting until its output is read
	grace        <-chan time.Time // fires when ranks have had enough time to end after SIGTERM; nil if they have no such time
	expired      <-chan time.Time // fires when the end of the job has taken too long
	interrupted  bool             // a first SIGINT was passed on to the ranks
	asked        time.Time        // when a first SIGTERM was passed on to the ranks
	overdue      <-chan time.Time // fires when ranks have had enough time to end after a second SIGTERM, or a SIGHUP
	request      string           // which of these it was
	locating     inquiry          // where the ranks are
	unwinding    inquiry          // what their stacks are
	sampling     inquiry          // what they do, for those who watch
	samplings    int              // how often the proxies were asked that
	watchers     int              // who watches
	lastSeen     []string         // where the ranks were when the job's time was up
	questions    chan func()      // of tpsl where and tpsl top
	over         chan struct{}    // closed when they are not answered any more
	hangTold     []string         // why the ranks stand still, as it was told; nil if they go on
	meetings     map[string]*meeting
	failures     []exitInfo       // processes that broke the job, in the order in which mpiexec heard of them
	lastLines    []string         // what the first of them last wrote to stderr
	explanations complaints       // what hosts know about why their ranks have failed
	warnings     complaints       // not told yet
	gathered     <-chan time.Time // fires when the warnings are to be told; nil if there are none
	crash        int              // index in failures of the crash that ended the job, or -1
	reportFile   *os.File
	profileFiles profileFiles
	told         []profile.Told // what ranks have counted
}

// An event is something that the job's goroutine has to act on.
type event struct {
	link      *proxyLink
	frame     channel.Frame
	loss      *channel.Loss   // the proxy is gone
	placement *plan.Placement // the proxy has decided it
}

// NewJob returns a job that starts proxies as opts say. log takes the trace.
func NewJob(made plan.Plan, opts launch.Options, timeout time.Duration, log *slog.Logger) *Job {
	j := &Job{plan: made, launch: opts, timeout: timeout, log: log, events: make(chan event, 64), questions: make(chan func()), over: make(chan struct{}), meetings: map[string]*meeting{}}
	j.began, j.crash = procs.Now(), -1
	j.outcome.sum.rule = made.Exit.Code
	j.stdout = newMerger(os.Stdout)
	j.stderr = newMerger(os.Stderr)
	j.stderr.repeats = &repeats{first: map[string]source{}}
	return j
}

// Run runs the job to its end. It leaves no process and no file of the job behind.
func (j *Job) Run() Outcome {
	j.signals = procs.CatchSignals(procs.AsLauncher)
	if err := errors.Join(procs.SetSubreaper(), procs.CloseOnExec(), j.openReport(), j.openProfile()); err != nil {
		j.outcome.fail(err.Error())
		j.tellOutcome()
		return j.outcome
	}
	var launcher launch.Launcher
	err := j.checkUsers()
	if err == nil {
		launcher, err = launch.New(j.launch)
	}
	if err != nil {
		j.outcome.fail(err.Error())
		j.conclude()
		return j.outcome
	}
	j.children = launch.NewChildren(launcher, launch.NewSecret(), j.launch, below{j})
	if slices.ContainsFunc(j.plan.Hosts, plan.Host.MapsUnbound) {
		j.stderr.line("mpiexec: -map-by has no effect on ranks that are not bound; add -bind-to core")
	}
	j.addWorld(j.plan)
	go j.feedStdin(j.stdinReaders())
	stop := j.serveState()
	j.loop()
	stop()
	j.finish()
	j.conclude()
	return j.outcome
}

// loop handles events until every proxy is done, or until the end of the job takes too long.
func (j *Job) loop() {
	var timeout <-chan time.Time
	if j.timeout > 0 {
		timeout = time.After(j.timeout)
	}
	hang, stopTicker := j.hangTicker()
	defer stopTicker()
	flushed := make(chan struct{})
	waiting := false
	for {
		if j.open == 0 && !waiting {
			waiting = true
			j.tellWarnings()
			go j.flush(flushed)
		}
		select {
		case e := <-j.events:
			j.handle(e)
		case sig := <-j.signals:
			j.handleSignal(sig.(unix.Signal))
		case err := <-j.stdout.broken:
			j.outcome.unwritten(err)
			j.end()
		case <-timeout:
			j.timedOut()
		case question := <-j.questions:
			question()
		case <-hang:
			j.checkHang()
		case <-j.locating.late:
			j.locating.end()
		case <-j.unwinding.late:
			j.unwinding.end()
		case <-j.sampling.late:
			j.sampling.end()
		case <-j.gathered:
			j.tellWarnings()
		case <-j.grace:
			j.force()
		case <-j.overdue:
			j.outcome.fail(fmt.Sprintf("killed what had not ended %v after %s", termLimit, j.request))
			j.force()
		case <-j.expired:
			if j.stalled() {
				j.expired = time.After(endLimit)
				continue
			}
			j.outcome.note("the job did not end in time; killed what was left")
			j.outcome.doubt = nil // a proxy that is killed from now on explains no earlier decision
			return
		case <-flushed:
			j.checkStdout()
			return
		}
	}
}

func (j *Job) handle(e event) {
	if e.loss != nil {
		j.lost(*e.loss)
		return
	}
	if e.placement != nil {
		e.link.placement = *e.placement
		return
	}
	w := e.link.world
	switch e.frame.Kind {
	case channel.Started:
		j.log.Debug("started", "host", e.link.host.Name)
		if err := e.frame.Value(&e.link.pids); err != nil {
			j.garbled(e.link, err)
			return
		}
		j.started(w)
		j.readClock(e.link, 0)
		j.agree(w)
		j.askAgain(e.link)
		w.showProcesses()
	case channel.Initialized:
		w.pmiUsed = true
		j.endIfStuck(w)
	case channel.SpawnRequest:
		j.spawn(e)
	case channel.LayoutRequest:
		j.layout(e)
	case channel.MeetRequest:
		j.meet(e)
	case channel.ModexRequest:
		j.askRank(e)
	case channel.ModexReply:
		j.tellRank(e)
	case channel.Aborted:
		j.aborted(e)
	case channel.Exited:
		j.readClock(e.link, 1)
		j.exited(e)
	case channel.Failed:
		j.broken(w, e.frame.Index-1, string(e.frame.Body))
	case channel.Located:
		j.located(e)
	case channel.Unwound:
		j.unwound(e)
	case channel.Counted:
		j.counted(e)
	case channel.Timed:
		j.clockRead(e)
	case channel.Watched:
		j.sampled(e)
	case channel.LastLines:
		j.keepTail(e)
	case channel.Explained:
		j.explanations.add(string(e.frame.Body), e.link.host.Name, e.link.host.Group)
	case channel.Warned:
		j.warned(e)
	case channel.Traced:
		j.stderr.line(string(e.frame.Body))
	case channel.Done:
		e.link.done = true
		j.open--
	}
}

// lost handles the end of a channel. The proxies behind it are lost, but for those that were done.
func (j *Job) lost(loss channel.Loss) {
	var hosts []string
	var ranks []int
	for _, id := range loss.Proxies {
		link := j.proxies[id]
		if link.done {
			continue
		}
		link.done = true
		j.open--
		if link.stdin != nil {
			link.stdin.Close()
		}
		hosts = append(hosts, link.host.Name)
		ranks = append(ranks, link.host.LocalRanks()...)
	}
	if len(hosts) == 0 {
		return
	}
	first := j.proxies[loss.Proxies[0]]
	if loss.Began {
		j.lostProxy = true
		j.outcome.reopen(first.world, nil)
		loss.Text = fmt.Sprintf("proxy on %s died (%s); %s lost", first.host.Name, loss.Text, plan.RankNames(ranks))
		if len(hosts) > 1 {
			loss.Text += ", on " + strings.Join(hosts, ", ")
		}
	}
	j.broken(first.world, -1, loss.Text)
}

// broken handles a host that cannot run its ranks, or cannot any longer. program is the index of the program at fault, or -1.
func (j *Job) broken(w *world, program int, text string) {
	switch {
	case w.refused: // the user knows already
	case w.birth != nil:
		j.refuse(w, program, text)
	default:
		j.outcome.fail(text)
		j.end()
	}
}
