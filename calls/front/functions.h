/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * MPI functions that can wait for other ranks. calls/functions.go reads these lines as well.
 *
 * CALL(name, words of arguments, what it waits for, communicator, peer, tag, from, tag of what is received). a0 is the first
 * argument. NONE: the call has no such argument. A name with a star is that of two functions: the other one has _c at its end.
 */
#ifndef LARGE
#define LARGE(name, ...) CALL(name, __VA_ARGS__) CALL(name##_c, __VA_ARGS__)
#endif

/* Messages. */
LARGE(Send, 6, SEND, a5, a3, a4, NONE, NONE)
LARGE(Bsend, 6, OTHER, a5, a3, a4, NONE, NONE)
LARGE(Ssend, 6, SEND, a5, a3, a4, NONE, NONE)
LARGE(Rsend, 6, SEND, a5, a3, a4, NONE, NONE)
LARGE(Recv, 7, RECEIVE, a5, a3, a4, NONE, NONE)
LARGE(Sendrecv, 12, SENDRECV, a10, a3, a4, a8, a9)
LARGE(Sendrecv_replace, 9, SENDRECV, a7, a3, a4, a5, a6)
LARGE(Buffer_detach, 2, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Probe, 4, RECEIVE, a2, a0, a1, NONE, NONE)
CALL(Mprobe, 5, RECEIVE, a2, a0, a1, NONE, NONE)
LARGE(Mrecv, 5, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Wait, 2, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Waitall, 3, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Waitany, 4, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Waitsome, 5, OTHER, NONE, NONE, NONE, NONE, NONE)

/* Collective operations. ALL: a member that waits is not done before all have come. ROOT: it is not done before the root has come.
 * GATHERED: the root is not done before all have come. SOME: which members it waits for depends on more than is noted. */
CALL(Barrier, 1, ALL, a0, NONE, NONE, NONE, NONE)
LARGE(Bcast, 5, ROOT, a4, a3, NONE, NONE, NONE)
LARGE(Gather, 8, GATHERED, a7, a6, NONE, NONE, NONE)
LARGE(Gatherv, 9, SOME, a8, a7, NONE, NONE, NONE)
LARGE(Scatter, 8, ROOT, a7, a6, NONE, NONE, NONE)
LARGE(Scatterv, 9, ROOT, a8, a7, NONE, NONE, NONE)
LARGE(Allgather, 7, ALL, a6, NONE, NONE, NONE, NONE)
LARGE(Allgatherv, 8, SOME, a7, NONE, NONE, NONE, NONE)
LARGE(Alltoall, 7, ALL, a6, NONE, NONE, NONE, NONE)
LARGE(Alltoallv, 9, SOME, a8, NONE, NONE, NONE, NONE)
LARGE(Alltoallw, 9, SOME, a8, NONE, NONE, NONE, NONE)
LARGE(Reduce, 7, GATHERED, a6, a5, NONE, NONE, NONE)
LARGE(Allreduce, 6, ALL, a5, NONE, NONE, NONE, NONE)
LARGE(Reduce_scatter, 6, SOME, a5, NONE, NONE, NONE, NONE)
LARGE(Reduce_scatter_block, 6, ALL, a5, NONE, NONE, NONE, NONE)
LARGE(Scan, 6, SOME, a5, NONE, NONE, NONE, NONE)
LARGE(Exscan, 6, SOME, a5, NONE, NONE, NONE, NONE)
LARGE(Neighbor_allgather, 7, SOME, a6, NONE, NONE, NONE, NONE)
LARGE(Neighbor_allgatherv, 8, SOME, a7, NONE, NONE, NONE, NONE)
LARGE(Neighbor_alltoall, 7, SOME, a6, NONE, NONE, NONE, NONE)
LARGE(Neighbor_alltoallv, 9, SOME, a8, NONE, NONE, NONE, NONE)
LARGE(Neighbor_alltoallw, 9, SOME, a8, NONE, NONE, NONE, NONE)

/* Windows and files. Handles of windows are no communicators. */
LARGE(Win_create, 6, ALL, a4, NONE, NONE, NONE, NONE)
LARGE(Win_allocate, 6, ALL, a3, NONE, NONE, NONE, NONE)
LARGE(Win_allocate_shared, 6, ALL, a3, NONE, NONE, NONE, NONE)
CALL(Win_create_dynamic, 3, ALL, a1, NONE, NONE, NONE, NONE)
CALL(Win_free, 1, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Win_fence, 2, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Win_start, 3, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Win_complete, 1, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Win_wait, 1, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Win_lock, 4, OTHER, NONE, a1, NONE, NONE, NONE)
CALL(Win_lock_all, 2, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Win_unlock, 2, OTHER, NONE, a0, NONE, NONE, NONE)
CALL(Win_unlock_all, 1, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Win_flush, 2, OTHER, NONE, a0, NONE, NONE, NONE)
CALL(Win_flush_all, 1, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Win_flush_local, 2, OTHER, NONE, a0, NONE, NONE, NONE)
CALL(Win_flush_local_all, 1, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(File_open, 5, SOME, a0, NONE, NONE, NONE, NONE)
CALL(File_close, 1, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(File_set_view, 6, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(File_set_size, 2, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(File_preallocate, 2, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(File_sync, 1, OTHER, NONE, NONE, NONE, NONE, NONE)
LARGE(File_read_all, 5, OTHER, NONE, NONE, NONE, NONE, NONE)
LARGE(File_write_all, 5, OTHER, NONE, NONE, NONE, NONE, NONE)
LARGE(File_read_at_all, 6, OTHER, NONE, NONE, NONE, NONE, NONE)
LARGE(File_write_at_all, 6, OTHER, NONE, NONE, NONE, NONE, NONE)
LARGE(File_read_ordered, 5, OTHER, NONE, NONE, NONE, NONE, NONE)
LARGE(File_write_ordered, 5, OTHER, NONE, NONE, NONE, NONE, NONE)

/* Processes. */
CALL(Comm_accept, 5, OTHER, a3, NONE, NONE, NONE, NONE)
CALL(Comm_connect, 5, OTHER, a3, NONE, NONE, NONE, NONE)
CALL(Comm_spawn, 8, OTHER, a5, NONE, NONE, NONE, NONE)
CALL(Comm_spawn_multiple, 9, OTHER, a6, NONE, NONE, NONE, NONE)
CALL(Comm_join, 2, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Intercomm_create_from_groups, 8, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Intercomm_create, 6, OTHER, a0, NONE, NONE, NONE, NONE)
CALL(Session_init, 3, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Session_finalize, 1, OTHER, NONE, NONE, NONE, NONE, NONE)
CALL(Finalize, 0, END, NONE, NONE, NONE, NONE, NONE)

/* Calls after which there is something to do. `new` is the argument through which a communicator is given. */
#ifndef CREATE
#define CREATE(name, words, communicator, new) CALL(name, words, ALL, communicator, NONE, NONE, NONE, NONE)
#endif
#ifndef BEGIN
#define BEGIN(name, words) CALL(name, words, OTHER, NONE, NONE, NONE, NONE, NONE)
#endif
#ifndef LEAVE
#define LEAVE(name, words) CALL(name, words, OTHER, NONE, NONE, NONE, NONE, NONE)
#endif
BEGIN(Init, 2)
BEGIN(Init_thread, 4)
LEAVE(Comm_free, 1)
LEAVE(Comm_disconnect, 1)
CREATE(Comm_dup, 2, a0, a1)
CREATE(Comm_dup_with_info, 3, a0, a2)
CREATE(Comm_create, 3, a0, a2)
CREATE(Comm_split, 4, a0, a3)
CREATE(Comm_split_type, 5, a0, a4)
CREATE(Cart_create, 6, a0, a5)
CREATE(Cart_sub, 3, a0, a2)
CREATE(Graph_create, 6, a0, a5)
CREATE(Dist_graph_create, 9, a0, a8)
CREATE(Dist_graph_create_adjacent, 10, a0, a9)
CREATE(Intercomm_merge, 3, NONE, a2)
CREATE(Comm_create_group, 4, NONE, a3)
CREATE(Comm_create_from_group, 5, NONE, a4)
#undef CALL
#undef LARGE
#undef CREATE
#undef BEGIN
#undef LEAVE
