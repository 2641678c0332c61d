// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A variable stands for an option. If its values are words, each word stands for an option.
type variable struct {
	names  []string // the first that is set counts
	option string
	words  map[string]string
	set    setter // if no option does the same as the variable
}

// variables lists what mpiexec reads from the environment. Intel MPI's names come last.
func variables() []variable {
	return []variable{
		{names: []string{"HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"}, option: "f"},
		{names: []string{"I_MPI_HYDRA_HOSTS_GROUP"}, option: "hosts"},
		{names: []string{"I_MPI_PERHOST"}, option: "ppn"},
		{names: []string{"HYDRA_RMK", "I_MPI_HYDRA_RMK"}, option: "rmk"},
		{names: []string{"HYDRA_IFACE", "I_MPI_HYDRA_IFACE"}, option: "iface"},
		{names: []string{"HYDRA_HOSTNAME_PROPAGATION"}, words: onOff("enable-hostname-propagation", "disable-hostname-propagation")},
		{names: []string{"HYDRA_ENV", "I_MPI_HYDRA_ENV"}, words: map[string]string{"all": "genvall", "none": "genvnone"}},
		{names: []string{"HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP"}, option: "launcher"},
		{names: []string{"HYDRA_LAUNCHER_EXEC", "HYDRA_BOOTSTRAP_EXEC", "I_MPI_HYDRA_BOOTSTRAP_EXEC"}, option: "launcher-exec"},
		{names: []string{"HYDRA_LAUNCHER_EXTRA_ARGS", "HYDRA_LAUNCH_EXTRA_ARGS", "HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS",
			"I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS"}, option: "launcher-extra-args"},
		{names: []string{"HYDRA_BINDING"}, option: "bind-to"},
		{names: []string{"HYDRA_MAPPING"}, option: "map-by"},
		{names: []string{"HYDRA_MEMBIND"}, option: "membind"},
		{names: []string{"HYDRA_TOPO_DEBUG"}, words: onOff("report-bindings", "")},
		{names: []string{"HYDRA_DEBUG", "I_MPI_HYDRA_DEBUG"}, words: onOff("verbose", "")},
		{names: []string{"MPIEXEC_TIMEOUT", "I_MPI_JOB_TIMEOUT"}, option: "timeout"},
		{names: []string{"TPSL_BANNER"}, option: "banner"},
		{names: []string{"TPSL_STATE"}, words: onOff("state", "")},
		{names: []string{"TPSL_PROFILE"}, option: "profile"},
		{names: []string{"HYDRA_LAUNCHER_AUTOFORK"}, set: setAutoFork},
		{names: []string{"HYDRA_LAUNCH_TIMEOUT"}, set: toParsed(parseTimeout, func(p *parser) *time.Duration { return &p.opts.Launch.Limit })},
		{names: []string{"TPSL_SILENCE"}, set: toParsed(parseTimeout, func(p *parser) *time.Duration { return &p.opts.Launch.Silence })},
		{names: []string{"MPIR_CVAR_CH3_PORT_RANGE", "MPIR_PARAM_CH3_PORT_RANGE", "MPICH_CH3_PORT_RANGE", "MPIR_CVAR_PORTRANGE",
			"MPIR_CVAR_PORT_RANGE", "MPIR_PARAM_PORTRANGE", "MPIR_PARAM_PORT_RANGE", "MPICH_PORTRANGE", "MPICH_PORT_RANGE",
			"MPIEXEC_PORTRANGE", "MPIEXEC_PORT_RANGE"}, set: setPortRange},
	}
}

// onOff lists the words that mean yes and no to Hydra.
func onOff(on, off string) map[string]string {
	return map[string]string{
		"1": on, "yes": on, "true": on, "on": on,
		"0": off, "no": off, "false": off, "off": off,
	}
}

// readVariables applies the options that variables stand for. An empty variable counts as a variable that is not set.
func (p *parser) readVariables(getenv func(string) string) error {
	p.origin = environment
	for _, v := range variables() {
		for _, name := range v.names {
			value := getenv(name)
			if value == "" {
				continue
			}
			if err := p.applyVariable(v, value); err != nil {
				return fmt.Errorf("%s=%s: %w", name, value, err)
			}
			break
		}
	}
	return nil
}

func (p *parser) applyVariable(v variable, value string) error {
	name := v.option
	switch {
	case v.set != nil:
		return v.set(p, value)
	case v.words != nil:
		var err error
		if name, err = choose(v.words, value); err != nil || name == "" {
			return err
		}
		value = ""
	}
	opt, _ := findOption(name)
	return p.apply(opt, value)
}

// choose returns the option or the value that a word stands for.
func choose(words map[string]string, value string) (string, error) {
	choice, found := words[strings.ToLower(value)]
	if !found {
		return "", fmt.Errorf("it is not one of %s", strings.Join(slices.Sorted(maps.Keys(words)), ", "))
	}
	return choice, nil
}

func setAutoFork(p *parser, v string) error {
	choice, err := choose(onOff("on", "off"), v)
	p.opts.Launch.AutoFork = choice == "on"
	return err
}

// setPortRange accepts LOW:HIGH, or LOW,HIGH as MPICH does.
func setPortRange(p *parser, v string) error {
	low, high, _ := strings.Cut(strings.ReplaceAll(v, ",", ":"), ":")
	first, err := strconv.ParseUint(low, 10, 16)
	last, err2 := strconv.ParseUint(high, 10, 16)
	if err != nil || err2 != nil || last < first {
		return errors.New("it is not LOW:HIGH, two ports from 0 to 65535")
	}
	p.opts.PMI.PortRange = fmt.Sprintf("%d:%d", first, last)
	return nil
}
