// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
)

const (
	// MaxHosts is how many hosts a list may name. Repeated hosts count again.
	MaxHosts = 1 << 17
	// MaxSlots is how many ranks a host takes in one turn.
	MaxSlots = 1 << 20
	// maxName is the longest host name, as in DNS.
	maxName = 253
)

var errLongName = fmt.Errorf("host name longer than %d characters", maxName)

// A Host is a machine that ranks may run on.
type Host struct {
	Name    string
	Slots   int    // ranks it takes before the next host's turn
	Binding string // how its ranks are bound; "" is as -bind-to says
	User    string // the user to log in as; "" leaves it to the launcher
}

// merge combines repeated hosts. It adds their slots. The first mention of a host decides its place, and the last one decides
// binding and user.
func merge(list []Host) []Host {
	index := make(map[string]int, len(list))
	var merged []Host
	for _, h := range list {
		at, found := index[h.Name]
		if !found {
			index[h.Name] = len(merged)
			merged = append(merged, h)
			continue
		}
		first := &merged[at]
		first.Slots = min(first.Slots+h.Slots, MaxSlots)
		if h.Binding != "" {
			first.Binding = h.Binding
		}
		if h.User != "" {
			first.User = h.User
		}
	}
	return merged
}

// checkName refuses a text that is not a host name or address. ssh would take a name that begins with a dash for an option.
func checkName(name string) error {
	if addr, err := netip.ParseAddr(name); err == nil && addr.Zone() == "" {
		return nil
	}
	switch {
	case name == "":
		return errors.New("no host name")
	case len(name) > maxName:
		return errLongName
	case name[0] == '-':
		return fmt.Errorf("host name %q begins with a dash", name)
	}
	for _, c := range name {
		if !isNameChar(c) {
			return fmt.Errorf("host name %q has %q in it", name, c)
		}
	}
	return nil
}

func isNameChar(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_'
}

func parseSlots(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MaxSlots {
		return 0, fmt.Errorf("%q is not a number of slots from 1 to %d", text, MaxSlots)
	}
	return n, nil
}
