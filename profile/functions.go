// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import "strings"

func set(words string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}

var (
	// synchronising functions return to no member of a communicator before all have come.
	synchronising = set(`Barrier Allgather Allgatherv Allreduce Alltoall Reduce_scatter Reduce_scatter_block
		Comm_dup Comm_dup_with_info Comm_create Comm_split Comm_split_type Cart_create Cart_sub Graph_create Dist_graph_create
		Win_create Win_allocate Win_allocate_shared Win_create_dynamic`)

	// waiting are the other functions that may wait for ranks.
	waiting = set(`Send Bsend Ssend Rsend Recv Sendrecv Sendrecv_replace Buffer_detach Probe Mprobe Mrecv Wait Waitall Waitany Waitsome
		Bcast Gather Gatherv Scatter Scatterv Alltoallv Alltoallw Reduce Scan Exscan
		Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw
		Win_free Win_fence Win_start Win_complete Win_wait Win_lock Win_lock_all Win_unlock Win_unlock_all
		Win_flush Win_flush_all Win_flush_local Win_flush_local_all
		File_open File_close File_set_view File_set_size File_preallocate File_sync File_read_all File_write_all File_read_at_all
		File_write_at_all File_read_ordered File_write_ordered
		Comm_accept Comm_connect Comm_spawn Comm_spawn_multiple Comm_join Comm_free Comm_disconnect Comm_create_group
		Comm_create_from_group Dist_graph_create_adjacent Intercomm_create Intercomm_create_from_groups Intercomm_merge
		Session_init Session_finalize Init Init_thread Finalize`)

	// collective operations on data, by the names of their blocking functions.
	collective = set(`Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw Reduce Allreduce
		Reduce_scatter Reduce_scatter_block Scan Exscan
		Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw`)

	// polling functions ask whether something has happened.
	polling = set("Test Testall Testany Testsome Iprobe Improbe Request_get_status")

	startAndEnd = set("Init Init_thread Finalize")
)

// base is the name of a function without MPI_ and without the suffix for large counts.
func base(function string) string {
	return strings.TrimSuffix(strings.TrimPrefix(function, "MPI_"), "_c")
}

// isCollective reports whether a function is a collective operation, or starts or prepares one.
func isCollective(function string) bool {
	name := strings.TrimSuffix(base(function), "_init")
	if collective[name] {
		return true
	}
	rest, starts := strings.CutPrefix(name, "I")
	return starts && rest != "" && collective[strings.ToUpper(rest[:1])+rest[1:]]
}

// mayWait reports whether a call may wait for other ranks. Of calls that did not fit into the table nothing is known.
func mayWait(function string) bool {
	name := base(function)
	return function == "" || synchronising[name] || waiting[name]
}
