// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// listen opens a port of loopback that is free, out of a range LOW:HIGH if one is given.
func listen(portRange string) (net.Listener, error) {
	low, high := 0, 0
	if portRange != "" {
		if _, err := fmt.Sscanf(portRange, "%d:%d", &low, &high); err != nil {
			return nil, fmt.Errorf("port range %q: %w", portRange, err)
		}
	}
	for port := low; port <= high; port++ {
		listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if !errors.Is(err, unix.EADDRINUSE) {
			return listener, err
		}
	}
	return nil, fmt.Errorf("no port from %d to %d is free", low, high)
}
