// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TPSL_LOOP_H
#define TPSL_LOOP_H

#include <stddef.h>
#include <stdint.h>

struct tpsl_loop;

// tpsl_loop_open makes a loop in a protection domain, to a sink of so many bytes. NULL: errno is set, and *step
// says what it was.
struct tpsl_loop *tpsl_loop_open(void *domain, size_t size, const char **step);

// tpsl_loop_write has the device copy memory with the key to the start of the sink, and waits for that. It returns the status of the completion, 0 for
// success, or -1 if none came within ten seconds.
int tpsl_loop_write(struct tpsl_loop *loop, uint64_t start, uint32_t length, uint32_t key);

void *tpsl_loop_sink(struct tpsl_loop *loop);
void tpsl_loop_close(struct tpsl_loop *loop);

#endif
