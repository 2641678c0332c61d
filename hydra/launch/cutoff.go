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

// login returns the connection by which sshd has logged this process's user in (ssh(1), SSH_CONNECTION), in one word.
func login() string {
	return strings.Join(strings.Fields(os.Getenv("SSH_CONNECTION")), ",")
}

// Watched reports whether Watch has something to watch: a connection that is the proxy's own, not inherited from who started it.
func (o Order) Watched() bool { return login() != "" && login() != o.Login }

// Watch calls cut when nothing of the host that started the proxy has been heard for as long as that host bears with
// silence, while it owes answers to our beats. A process there that is stopped owes none: its kernel answers. It returns
// when the connection is gone.
func (o Order) Watch(cut func()) {
	local, remote, ok := ends(login())
	for ok {
		time.Sleep(o.Beat)
		silence, err := sockdiag.Unheard(local, remote)
		if err != nil {
			return // its end shows in the channel
		}
		if silence >= beatsPerSilence*o.Beat {
			cut()
			return
		}
	}
}

// ends reads a login: the client's address and port, and ours.
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
