// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"net"
	"net/netip"
	"os"
	"strings"
)

// IsLocal reports whether a host is this one. It compares name or address, and looks no name up.
func IsLocal(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	if address, err := netip.ParseAddr(name); err == nil {
		return address.IsLoopback() || isOwn(address)
	}
	own, err := os.Hostname()
	return err == nil && sameName(name, own)
}

// sameName compares host names. A name without a domain is the same as one with any.
func sameName(a, b string) bool {
	shortA, domainA, _ := strings.Cut(a, ".")
	shortB, domainB, _ := strings.Cut(b, ".")
	return strings.EqualFold(shortA, shortB) && (domainA == "" || domainB == "" || strings.EqualFold(domainA, domainB))
}

func isOwn(address netip.Addr) bool {
	list, _ := net.InterfaceAddrs() // after an error the list is empty, and no address is ours
	for _, a := range list {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr() == address {
			return true
		}
	}
	return false
}
