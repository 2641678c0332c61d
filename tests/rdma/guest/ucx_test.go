// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestConnections(t *testing.T) {
	const head = "[1795303002.34 [a:192  :0]      ucp_worker.c:1763 UCX  INFO  "
	assert.Equal(t, []Connection{
		{0, []string{"self/memory0", "rc_verbs/rxe0:1", "sysv/memory"}},
		{12, []string{"rc_verbs/rxe1:1"}},
	}, Connections(head+"  ep_cfg[0]: tag(self/memory0 rc_verbs/rxe0:1) rma(sysv/memory)\n"+
		head+"loaded from /lib/tcp/eth0\nep_cfg[1]: of a program's own(tcp/eth0)\n"+head+"  ep_cfg[12]: tag(rc_verbs/rxe1:1) \n"))
	assert.Empty(t, Connections(""))
}
