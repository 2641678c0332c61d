// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TPSL_VERBS_QUEUE_H
#define TPSL_VERBS_QUEUE_H

#include <infiniband/verbs.h>
#include <stdint.h>

// All functions return 0, or the error's number.

// tpsl_queue_port asks for a port's state, its address in its subnet and one of its GIDs.
int tpsl_queue_port(struct ibv_pd *domain, uint8_t number, int index, struct ibv_port_attr *attr, union ibv_gid *gid);

// tpsl_queue_gids reads the GIDs of a device's ports, and returns how many, or a number below 0: the error's.
int tpsl_queue_gids(struct ibv_pd *domain, struct ibv_gid_entry *into, size_t most);

// tpsl_queue_init makes a new pair ready to receive messages into memory.
int tpsl_queue_init(struct ibv_qp *pair, uint8_t port);

// tpsl_queue_connect makes a pair send to another one, and take what that one sends.
struct tpsl_queue_route {
	uint8_t port;      // of the pair
	uint8_t gid_index; // of that port
	uint8_t mtu;       // enum ibv_mtu
	uint16_t lid;      // the other one's
	uint32_t number, psn, own_psn;
	uint8_t gid[16];
};
int tpsl_queue_connect(struct ibv_qp *pair, const struct tpsl_queue_route *route);

int tpsl_queue_send(struct ibv_qp *pair, uint64_t id, uint64_t at, uint32_t length, uint32_t key);
int tpsl_queue_read(struct ibv_qp *pair, uint64_t id, uint64_t at, uint32_t length, uint32_t key, uint64_t remote, uint32_t remote_key);

// tpsl_queue_receive posts memory for a message that comes by any pair of the queue.
int tpsl_queue_receive(struct ibv_srq *queue, uint64_t id, uint64_t at, uint32_t length, uint32_t key);

// tpsl_queue_stop has a pair forget all that was posted.
int tpsl_queue_stop(struct ibv_qp *pair);

// tpsl_queue_arm has the queue's channel tell of the next completion. tpsl_queue_heed takes what the channel has told.
int tpsl_queue_arm(struct ibv_cq *queue);
void tpsl_queue_heed(struct ibv_comp_channel *channel, struct ibv_cq *queue);

// tpsl_queue_poll takes completions, and returns how many, or a number below 0.
int tpsl_queue_poll(struct ibv_cq *queue, int most, struct ibv_wc *into);

#endif
