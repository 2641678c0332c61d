// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"fmt"
	"strings"

	"github.com/tpsl/tpsl/internal/textfile"
)

// useLocalhost, used as the name of a host, means the host of mpiexec.
const useLocalhost = "HYDRA_USE_LOCALHOST"

// ReadFile reads a host file: a line is NAME[:SLOTS] [slots=N] [binding=B] [user=U], where NAME may have ranges; # begins
// a comment. self is the name of this host.
func ReadFile(path, self string) ([]Host, error) {
	text, err := textfile.Read(path, "a host file")
	if err != nil {
		return nil, err
	}
	return parseFile(path, text, self)
}

func parseFile(path, text, self string) ([]Host, error) {
	return eachLine(path, text, func(fields []string) ([]Host, error) { return parseLine(fields, self) })
}

func parseLine(fields []string, self string) ([]Host, error) {
	if name, rest, _ := strings.Cut(fields[0], ":"); name == useLocalhost {
		fields[0] = self
		if rest != "" {
			fields[0] += ":" + rest
		}
	}
	list, err := parseItems(fields[0])
	if err != nil {
		return nil, err
	}
	for i := range list {
		for _, field := range fields[1:] {
			if err := list[i].set(field); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// set applies one KEY=VALUE of a host file.
func (h *Host) set(field string) (err error) {
	key, value, _ := strings.Cut(field, "=")
	switch key = strings.ToLower(key); {
	case value == "":
	case key == "slots":
		h.Slots, err = parseSlots(value)
		return err
	case key == "binding":
		h.Binding = value
		return nil
	case key == "user" && value[0] != '-':
		h.User = value
		return nil
	}
	return fmt.Errorf("%q is not slots=N, binding=B or user=U", shorten(field))
}

// eachLine parses a text line by line, and merges the hosts that the lines name. It skips comments and empty lines.
func eachLine(path, text string, parse func(fields []string) ([]Host, error)) ([]Host, error) {
	var list []Host
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		hosts, err := parse(fields)
		if err == nil && len(list)+len(hosts) > MaxHosts {
			err = fmt.Errorf("more than %d hosts", MaxHosts)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		list = append(list, hosts...)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: names no host", path)
	}
	return merge(list), nil
}
