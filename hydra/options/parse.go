// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
)

// A CommandLine is what mpiexec was told to do.
type CommandLine struct {
	Action Action
	plan.Request

	topic      *option // of -OPTION -h
	allOptions bool    // of -h all
}

// Action is what mpiexec does after reading its options.
type Action int

// The actions.
const (
	ActionRun Action = iota
	ActionHelp
	ActionVersion
)

// An origin is where a setting comes from. An origin that is listed first here wins over the others.
type origin int

const (
	commandLine origin = iota
	configFile         // the program's own line
	configGeneral
	environment
)

// A setting is an option as it was given.
type setting struct {
	option, value string
	origin        origin
	where         string // FILE:LINE
}

func (s setting) String() string { return strings.TrimSpace("-" + s.option + " " + s.value) }

// A segmentState is what the parser remembers of a segment.
type segmentState struct {
	seen  map[string]setting // by the subject that they set
	given []setting          // the same, in order
	soft  softList
}

// A parser reads a command line, a configuration file and the environment.
type parser struct {
	opts    CommandLine
	origin  origin
	where   string             // FILE:LINE
	global  map[string]setting // global options that were given, by the subject that they set
	segment *plan.Segment      // the current one
	state   *segmentState      // its state
	states  []*segmentState    // of all segments
	shared  []setting          // local options that come before no program; they apply to the segments that follow
	inherit []string           // the Inherit of segments that do not give it themselves
	inFile  bool               // the parser is in the file of -file
}

var errNoProgram = errors.New("no program given; try mpiexec -h")

// Parse reads mpiexec's arguments without the name of the command. From a configuration file and from the environment it then takes
// what the arguments do not decide.
func Parse(args []string, getenv func(string) string) (CommandLine, error) {
	opts, err := parseAll(args, getenv)
	if err != nil {
		return CommandLine{}, oneLine(err)
	}
	return opts, nil
}

func parseAll(args []string, getenv func(string) string) (CommandLine, error) {
	p := &parser{global: map[string]setting{}}
	p.opts.Hosts.PropagateName, p.opts.Launch.AutoFork = true, true
	complete, err := p.parseSegments(args)
	if err != nil || p.opts.Action != ActionRun {
		return p.opts, err
	}
	if p.opts.PMI.IsSingleton() {
		complete, err = true, p.serveAlone()
	}
	if err == nil {
		err = p.readConfigFile(getenv, complete)
	}
	if err == nil {
		err = p.readVariables(getenv)
	}
	if err == nil {
		err = p.finish()
	}
	return p.opts, err
}

// serveAlone makes a segment of the program of -pmi_args. This program runs already and is not started.
func (p *parser) serveAlone() error {
	if len(p.opts.Segments) > 0 {
		return fmt.Errorf("option -pmi_args: leave out %s; the program runs already", p.opts.Segments[0].Args[0])
	}
	p.open()
	*p.segment = p.opts.PMI.SingletonSegment()
	return nil
}

// oneLine turns an error that contains a user's text into one line.
func oneLine(err error) error {
	if text := err.Error(); strings.ContainsAny(text, "\r\n") {
		return errors.New(strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(text))
	}
	return err
}

// parseSegments reads segments with colons between them. complete tells whether the last one has a program. If it has none, it does
// not become a segment, and its options apply to the programs of a configuration file.
func (p *parser) parseSegments(args []string) (complete bool, err error) {
	for more := true; more; {
		p.open()
		if args, err = p.parseOptions(args); err != nil || p.opts.Action != ActionRun {
			return false, err
		}
		end := slices.Index(args, ":")
		if more = end >= 0; !more {
			end = len(args)
		}
		if end == 0 {
			if more {
				return false, errNoProgram
			}
			return false, p.withdraw()
		}
		p.segment.Args = args[:end]
		args = args[min(end+1, len(args)):]
	}
	return true, nil
}

// open begins a segment.
func (p *parser) open() {
	p.opts.Segments = append(p.opts.Segments, plan.Segment{PerProcess: 1, Mode: plan.ModeAuto})
	p.states = append(p.states, &segmentState{seen: map[string]setting{}})
	p.enter(len(p.states) - 1)
}

func (p *parser) enter(i int) { p.segment, p.state = &p.opts.Segments[i], p.states[i] }

// withdraw removes a segment that got no program, and keeps its options.
func (p *parser) withdraw() error {
	last := len(p.states) - 1
	if p.segment.Hosts != "" {
		return fmt.Errorf("duplicate setting: -hosts %s and -hosts %s", p.opts.Hosts.List, p.segment.Hosts)
	}
	p.shared = append(p.shared, p.state.given...)
	p.opts.Segments, p.states = p.opts.Segments[:last], p.states[:last]
	return nil
}

// finish sets fields that depend on several options.
func (p *parser) finish() (err error) {
	for i := range p.opts.Segments {
		p.enter(i)
		if _, own := p.state.seen["envall"]; !own {
			p.segment.Inherit = p.inherit
		}
		if p.state.soft != nil {
			if p.segment.Ranks, err = p.state.soft.most(p.segment.Ranks); err != nil {
				return err
			}
		}
	}
	if p.opts.Hosts.Iface != "" {
		if s := p.global["hostname-propagation"]; s.option != "" && p.opts.Hosts.PropagateName {
			return fmt.Errorf("-iface %s and %s exclude each other", p.opts.Hosts.Iface, s)
		}
		p.opts.Hosts.PropagateName = false
	}
	if p.opts.Stdio.Stdin == nil {
		p.opts.Stdio.Stdin = plan.Debugged(p.opts.Tools)
	}
	if p.opts.Exit.Banner == "" && p.opts.Verbose {
		p.opts.Exit.Banner = plan.BannerHydra // who wants to see all gets all that Hydra says
	}
	byObject := func(s plan.Segment) bool { return s.PerObject != "" && s.PerObject != "node" }
	if p.opts.Hardware.Bind.Object == "" && slices.ContainsFunc(p.opts.Segments, byObject) {
		p.opts.Hardware.Bind = plan.Binding{Object: "core", Count: 1}
	}
	return nil
}
