// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

#include "queue.h"

#include <errno.h>
#include <string.h>

// How long a pair waits for an answer, and how often it asks again: 4.096 us * 2^18, about a second, and 7 times.
// To wait until the other side has posted memory for a message has no end: a process that lives does that. It says so, and how long
// to wait then: 0.64 ms.
enum { TIMEOUT = 18, RETRIES = 7, WAIT_FOR_MEMORY = 7, UNTIL_MEMORY = 12, READS_AT_ONCE = 4 };

int tpsl_queue_port(struct ibv_pd *domain, uint8_t number, int index, struct ibv_port_attr *attr, union ibv_gid *gid)
{
	int status = ibv_query_port(domain->context, number, attr);

	if (status)
		return status;
	return ibv_query_gid(domain->context, number, index, gid) ? errno : 0;
}

int tpsl_queue_gids(struct ibv_pd *domain, struct ibv_gid_entry *into, size_t most)
{
	return ibv_query_gid_table(domain->context, into, most, 0);
}

int tpsl_queue_init(struct ibv_qp *pair, uint8_t port)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = port, .qp_access_flags = IBV_ACCESS_REMOTE_READ};

	return ibv_modify_qp(pair, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int tpsl_queue_connect(struct ibv_qp *pair, const struct tpsl_queue_route *r)
{
	struct ibv_qp_attr receive = {.qp_state = IBV_QPS_RTR, .path_mtu = r->mtu, .dest_qp_num = r->number, .rq_psn = r->psn,
		.max_dest_rd_atomic = READS_AT_ONCE, .min_rnr_timer = UNTIL_MEMORY,
		.ah_attr = {.port_num = r->port, .dlid = r->lid, .is_global = 1, .grh = {.hop_limit = 64, .sgid_index = r->gid_index}}};
	struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS, .sq_psn = r->own_psn, .timeout = TIMEOUT, .retry_cnt = RETRIES, .rnr_retry = WAIT_FOR_MEMORY,
		.max_rd_atomic = READS_AT_ONCE};
	int status;

	memcpy(receive.ah_attr.grh.dgid.raw, r->gid, sizeof r->gid);
	status = ibv_modify_qp(pair, &receive, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (status)
		return status;
	return ibv_modify_qp(pair, &send, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

int tpsl_queue_send(struct ibv_qp *pair, uint64_t id, uint64_t at, uint32_t length, uint32_t key)
{
	struct ibv_sge piece = {.addr = at, .length = length, .lkey = key};
	struct ibv_send_wr request = {.wr_id = id, .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	return ibv_post_send(pair, &request, &bad);
}

int tpsl_queue_receive(struct ibv_srq *queue, uint64_t id, uint64_t at, uint32_t length, uint32_t key)
{
	struct ibv_sge piece = {.addr = at, .length = length, .lkey = key};
	struct ibv_recv_wr request = {.wr_id = id, .sg_list = &piece, .num_sge = 1};
	struct ibv_recv_wr *bad;

	return ibv_post_srq_recv(queue, &request, &bad);
}

int tpsl_queue_stop(struct ibv_qp *pair)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	return ibv_modify_qp(pair, &attr, IBV_QP_STATE);
}

int tpsl_queue_read(struct ibv_qp *pair, uint64_t id, uint64_t at, uint32_t length, uint32_t key, uint64_t remote, uint32_t remote_key)
{
	struct ibv_sge piece = {.addr = at, .length = length, .lkey = key};
	struct ibv_send_wr request = {.wr_id = id, .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = remote, .rkey = remote_key}};
	struct ibv_send_wr *bad;

	return ibv_post_send(pair, &request, &bad);
}

int tpsl_queue_arm(struct ibv_cq *queue)
{
	return ibv_req_notify_cq(queue, 0);
}

void tpsl_queue_heed(struct ibv_comp_channel *channel, struct ibv_cq *queue)
{
	struct ibv_cq *told;
	void *context;

	while (!ibv_get_cq_event(channel, &told, &context)) // its file does not block
		ibv_ack_cq_events(queue, 1);
}

int tpsl_queue_poll(struct ibv_cq *queue, int most, struct ibv_wc *into)
{
	return ibv_poll_cq(queue, most, into);
}
