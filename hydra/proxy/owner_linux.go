// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"fmt"
	"net/netip"
	"strconv"
)

// established is the state of a connection that both ends hold (include/net/tcp_states.h).
const established = "01"

// socketOwner finds the user of a socket in the text of /proc/net/tcp (proc(5)), by its own address and its peer's.
func socketOwner(table []byte, local, remote netip.AddrPort) (uid int, found bool) {
	for line := range bytes.Lines(table) {
		f := bytes.Fields(line) // sl local remote st queues timer retransmits uid timeout inode ...
		if len(f) < 10 || string(f[1]) != procAddress(local) || string(f[2]) != procAddress(remote) {
			continue
		}
		uid, err := strconv.Atoi(string(f[7]))
		return uid, err == nil && string(f[3]) == established && string(f[9]) != "0"
	}
	return 0, false
}

// procAddress writes an address as the kernel does: the four bytes as one number of the machine, here little-endian.
func procAddress(a netip.AddrPort) string {
	b := a.Addr().Unmap().As4()
	return fmt.Sprintf("%02X%02X%02X%02X:%04X", b[3], b[2], b[1], b[0], a.Port())
}
