// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tpsl/tpsl/internal/textfile"
)

const (
	pbsFile    = "PBS_NODEFILE"
	llFile     = "LOADL_HOSTFILE"
	cobaltFile = "COBALT_NODEFILE"
	sgeFile    = "PE_HOSTFILE"
	lsfHosts   = "LSB_MCPU_HOSTS"
	lsfFile    = "LSB_DJOB_HOSTFILE"
)

// lineReader reads the file that a variable names, which has a line with a host's name for each slot.
func lineReader(variable string) func(Getenv) ([]Host, error) {
	return func(getenv Getenv) ([]Host, error) {
		return readNamed(variable, getenv, func(fields []string) ([]Host, error) { return oneHost(fields[0], "1") })
	}
}

// readSGE reads lines of host, slots, queue and processors.
func readSGE(getenv Getenv) ([]Host, error) {
	return readNamed(sgeFile, getenv, func(fields []string) ([]Host, error) {
		if len(fields) < 2 {
			return nil, fmt.Errorf("%q is not a host and its slots", shorten(fields[0]))
		}
		return oneHost(fields[0], fields[1])
	})
}

// readLSF reads pairs of a host and its slots from a variable. LSF does not set the variable in jobs with very many hosts.
func readLSF(getenv Getenv) ([]Host, error) {
	fields := strings.Fields(getenv(lsfHosts))
	if len(fields) == 0 {
		return lineReader(lsfFile)(getenv)
	}
	if len(fields)%2 != 0 || len(fields) > 2*MaxHosts {
		return nil, errors.New(lsfHosts + " is not pairs of a host and its slots")
	}
	var list []Host
	for ; len(fields) > 0; fields = fields[2:] {
		hosts, err := oneHost(fields[0], fields[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", lsfHosts, err)
		}
		list = append(list, hosts...)
	}
	return list, nil
}

func readNamed(variable string, getenv Getenv, parse func([]string) ([]Host, error)) ([]Host, error) {
	path := getenv(variable)
	text, err := textfile.Read(path, "a host file")
	if err == nil {
		var list []Host
		if list, err = eachLine(path, text, parse); err == nil {
			return list, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", variable, err)
}

func oneHost(name, slots string) ([]Host, error) {
	n, err := parseSlots(slots)
	if err == nil {
		err = checkName(name)
	}
	return []Host{{Name: name, Slots: n}}, err
}
