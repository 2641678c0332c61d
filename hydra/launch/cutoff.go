// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/tpsl/tpsl/hydra/sockdiag"
)

// login returns, in one word, the connection by which sshd has logged in the user of this process (ssh(1), SSH_CONNECTION).
func login() string {
	return strings.Join(strings.Fields(os.Getenv("SSH_CONNECTION")), ",")
}

// Watched reports whether Watch has a connection to watch. That is a connection of the proxy itself, and not one that it has
// inherited from the process that started it.
func (o Order) Watched() bool { return login() != "" && login() != o.Login }

// Watch calls cut when the host that started the proxy does not acknowledge our beats for too long. The limit is the silence
// after which that host gives up a proxy. If only the process there is stopped, its kernel still acknowledges the beats. Watch
// returns when the connection is gone.
func (o Order) Watch(cut func()) {
	local, remote, ok := ends(login())
	for ok {
		time.Sleep(o.Beat)
		silence, err := sockdiag.Unheard(local, remote)
		if err != nil {
			return // the channel reports the end of the connection
		}
		if silence >= beatsPerSilence*o.Beat {
			cut()
			return
		}
	}
}

// ends reads a login. It has the client's address and port, then those of this host.
func ends(login string) (local, remote netip.AddrPort, ok bool) {
	words := strings.Split(login, ",")
	if len(words) != 4 {
		return local, remote, false
	}
	parse := func(address, port string) netip.AddrPort {
		end, err := netip.ParseAddrPort("[" + address + "]:" + port)
		if err != nil {
			end, err = netip.ParseAddrPort(address + ":" + port)
		}
		ok = ok && err == nil
		return netip.AddrPortFrom(end.Addr().WithZone(""), end.Port())
	}
	ok = true
	remote, local = parse(words[0], words[1]), parse(words[2], words[3])
	return local, remote, ok
}
