// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// tpsl nic lists what the rdma command does, and the GIDs of each port: the link's own address and the IPv4 one.
func TestPorts(t *testing.T) {
	guests := guests(t, 1)
	testsupport.NothingLeft(t)
	var ours struct {
		NICs []struct {
			RDMA                       bool
			Device, Kind, State, Verbs string
			Port                       int
			GIDs                       []struct{ GID, Type, Interface string }
		}
	}
	var links []struct {
		Name   string `json:"ifname"`
		Port   int
		State  string
		Netdev string
	}
	r := in(t, guests, 0, nil, testsupport.Build(t)+"/bin/tpsl", "nic", "-json")
	require.Zero(t, r.Code, r.Stderr)
	require.NoError(t, json.Unmarshal([]byte(r.Stdout), &ours))
	require.NoError(t, json.Unmarshal([]byte(in(t, guests, 0, nil, "rdma", "-j", "link").Stdout), &links))
	require.Len(t, links, 2)
	for i, link := range links {
		nic := ours.NICs[i]
		assert.Equal(t, link.Name+strconv.Itoa(link.Port), nic.Device+strconv.Itoa(nic.Port))
		assert.Equal(t, "ACTIVE", link.State)
		assert.Equal(t, "ethernet up uverbs"+strconv.Itoa(i), nic.Kind+" "+nic.State+" "+nic.Verbs)
		require.Len(t, nic.GIDs, 2)
		assert.Equal(t, "::ffff:10."+strconv.Itoa(78+i)+".0.1 RoCE v2 "+link.Netdev, nic.GIDs[1].GID+" "+nic.GIDs[1].Type+" "+nic.GIDs[1].Interface)
	}
	assert.False(t, ours.NICs[2].RDMA)
}
