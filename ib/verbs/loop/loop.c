// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

#include "loop.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <time.h>

struct tpsl_loop {
	struct ibv_cq *cq;
	struct ibv_qp *from, *to;
	struct ibv_mr *mr;
	void *sink;
};

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

	return ibv_create_qp(pd, &attr);
}

// connect_qp brings qp to the state in which it sends to peer, on port 1, by the GID that the port has first.
static int connect_qp(struct ibv_qp *qp, struct ibv_qp *peer)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	struct ibv_qp_attr receive = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp_num, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 12, .ah_attr = {.port_num = 1, .is_global = 1, .grh = {.hop_limit = 1}}};
	struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
	struct ibv_port_attr port;

	if (ibv_query_port(qp->context, 1, &port) || ibv_query_gid(qp->context, 1, 0, &receive.ah_attr.grh.dgid))
		return -1;
	receive.ah_attr.dlid = port.lid;
	if (ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return -1;
	if (ibv_modify_qp(qp, &receive, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		return -1;
	return ibv_modify_qp(qp, &send, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int fill(struct tpsl_loop *loop, struct ibv_pd *pd, size_t size, const char **step)
{
	*step = "allocate the sink";
	if (posix_memalign(&loop->sink, 4096, size))
		return -1;
	*step = "register the sink";
	if (!(loop->mr = ibv_reg_mr(pd, loop->sink, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)))
		return -1;
	*step = "create a completion queue";
	if (!(loop->cq = ibv_create_cq(pd->context, 4, NULL, NULL, 0)))
		return -1;
	*step = "create queue pairs";
	if (!(loop->from = make_qp(pd, loop->cq)) || !(loop->to = make_qp(pd, loop->cq)))
		return -1;
	*step = "connect queue pairs";
	return connect_qp(loop->to, loop->from) || connect_qp(loop->from, loop->to) ? -1 : 0;
}

struct tpsl_loop *tpsl_loop_open(void *domain, size_t size, const char **step)
{
	struct tpsl_loop *loop = calloc(1, sizeof *loop);

	if (loop && fill(loop, domain, size, step)) {
		int why = errno;

		tpsl_loop_close(loop);
		errno = why;
		return NULL;
	}
	return loop;
}

int tpsl_loop_write(struct tpsl_loop *loop, uint64_t start, uint32_t length, uint32_t key)
{
	struct ibv_sge piece = {.addr = start, .length = length, .lkey = key};
	struct ibv_send_wr request = {.sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = (uintptr_t)loop->sink, .rkey = loop->mr->rkey}};
	struct ibv_send_wr *bad;
	struct ibv_wc done;
	time_t end = time(NULL) + 10;

	if (ibv_post_send(loop->from, &request, &bad))
		return -1;
	while (time(NULL) < end) {
		int n = ibv_poll_cq(loop->cq, 1, &done);

		if (n)
			return n < 0 ? -1 : (int)done.status;
		nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL); // an emulated device needs the processor
	}
	return -1;
}

void *tpsl_loop_sink(struct tpsl_loop *loop)
{
	return loop->sink;
}

void tpsl_loop_close(struct tpsl_loop *loop)
{
	if (loop->from)
		ibv_destroy_qp(loop->from);
	if (loop->to)
		ibv_destroy_qp(loop->to);
	if (loop->cq)
		ibv_destroy_cq(loop->cq);
	if (loop->mr)
		ibv_dereg_mr(loop->mr);
	free(loop->sink);
	free(loop);
}
