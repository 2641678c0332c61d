/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * refused: calls with arguments that are wrong, and prints what each says.
 */
#include <math.h>

#include "fixture.h"

static void tell(const char *call, int code)
{
    printf("%s: %d %s\n", call, code, tpslmsg_error());
}

#define TELL(call) tell(#call, call)

static struct tpslmsg_op op(int kind, void *buffer, size_t bytes, const struct tpslmsg_key *key)
{
    return (struct tpslmsg_op){.kind = kind, .buffer = buffer, .bytes = bytes, .key = key};
}

static void tell_op(tpslmsg_port port, const char *what, struct tpslmsg_op o)
{
    tell(what, tpslmsg_post(port, &o, 1));
}

#define TELL_OP(o) tell_op(port, #o, o)

int main(void)
{
    static uint64_t words[8];
    struct tpslmsg_options small = {.size = 1}, ports = {.size = sizeof ports, .ports = -1}, many = {.size = sizeof many, .ports = 1 << 30};
    struct tpslmsg_options shared = {.size = sizeof shared, .shared = 2};
    struct tpslmsg_completion c[4];
    struct tpslmsg_key key, wrong;
    tpslmsg_job job, none = {0}, unknown = {12345};
    tpslmsg_port port, no_port = {0}, odd_port = {~0ull};
    NEED(strcmp(tpslmsg_error(), "") == 0);

    TELL(tpslmsg_start(NULL, 1, NULL));
    TELL(tpslmsg_start(NULL, -1, &job));
    TELL(tpslmsg_start(NULL, NAN, &job));
    TELL(tpslmsg_start(&small, 1, &job));
    TELL(tpslmsg_start(&ports, 1, &job));
    TELL(tpslmsg_start(&many, 1, &job));
    TELL(tpslmsg_start(&shared, 1, &job));
    job = start(2, 0);
    port = open_port(job, 0);

    TELL(tpslmsg_ranks(none, NULL, NULL, NULL));
    TELL(tpslmsg_ranks(unknown, NULL, NULL, NULL));
    NEED(tpslmsg_ranks(job, NULL, NULL, NULL) == 0);
    TELL(tpslmsg_open(job, 0, NULL));
    TELL(tpslmsg_open(job, -1, &port));
    TELL(tpslmsg_open(job, 2, &port));
    TELL(tpslmsg_open(none, 0, &port));
    TELL(tpslmsg_end(none));

    TELL(tpslmsg_register(port, words, sizeof words, NULL));
    TELL(tpslmsg_register(port, NULL, 8, &key));
    TELL(tpslmsg_register(port, words, 0, &key));
    TELL(tpslmsg_register(port, (char *)words + 1, 8, &key));
    TELL(tpslmsg_register(port, words, -(size_t)1, &key));
    NEED(tpslmsg_register(port, words, sizeof words, &key) == 0);
    wrong = key;
    memset(wrong.bytes, 0xff, sizeof wrong.bytes);
    TELL(tpslmsg_unregister(port, NULL));
    TELL(tpslmsg_unregister(port, &wrong));

    TELL(tpslmsg_post(port, NULL, 1));
    TELL(tpslmsg_post(no_port, &(struct tpslmsg_op){0}, 1));
    TELL(tpslmsg_post(odd_port, &(struct tpslmsg_op){0}, 1));
    TELL(tpslmsg_post(port, &(struct tpslmsg_op){0}, 0));
    TELL(tpslmsg_post(port, &(struct tpslmsg_op){0}, -3));
    TELL_OP(op(0, NULL, 0, NULL));
    TELL_OP(op(99, NULL, 0, NULL));
    TELL_OP(op(TPSLMSG_SEND, NULL, 8, NULL));
    TELL_OP(op(TPSLMSG_SEND, words, -(size_t)8, NULL));
    TELL_OP(op(TPSLMSG_SEND, words, (size_t)1 << 63, NULL));
    TELL_OP(((struct tpslmsg_op){.kind = TPSLMSG_SEND, .peer = 2}));
    TELL_OP(((struct tpslmsg_op){.kind = TPSLMSG_SEND, .peer = TPSLMSG_ANY}));
    TELL_OP(((struct tpslmsg_op){.kind = TPSLMSG_RECEIVE, .peer = -2}));
    TELL_OP(((struct tpslmsg_op){.kind = TPSLMSG_RECEIVE, .tag = -2}));
    TELL_OP(op(TPSLMSG_PUT, words, 8, NULL));
    TELL_OP(op(TPSLMSG_PUT, words, 8, &wrong));
    TELL_OP(op(TPSLMSG_GET, words, sizeof words + 1, &key));
    TELL_OP(((struct tpslmsg_op){.kind = TPSLMSG_GET, .buffer = words, .bytes = 8, .offset = -(size_t)8, .key = &key}));
    TELL_OP(op(TPSLMSG_FETCH_ADD, words, 4, &key));
    TELL_OP(op(TPSLMSG_FETCH_ADD, (char *)words + 4, 8, &key));
    TELL_OP(((struct tpslmsg_op){.kind = TPSLMSG_COMPARE_SWAP, .bytes = 8, .offset = 4, .key = &key}));

    struct tpslmsg_op second[2] = {op(TPSLMSG_SEND, words, 8, NULL), op(99, NULL, 0, NULL)};
    NEED(tpslmsg_post(port, second, 2) == 1);

    TELL(tpslmsg_reap(port, NULL, 0, 1, 0));
    TELL(tpslmsg_reap(port, c, 0, 0, 0));
    TELL(tpslmsg_reap(port, c, 5, 4, 0));
    TELL(tpslmsg_reap(port, c, -1, 4, 0));
    TELL(tpslmsg_reap(port, c, 1, 4, -0.5));
    TELL(tpslmsg_reap(port, c, 1, 4, NAN));

    NEED(tpslmsg_unregister(port, &key) == 0);
    TELL(tpslmsg_unregister(port, &key));
    TELL_OP(op(TPSLMSG_PUT, words, 8, &key));
    NEED(tpslmsg_end(job) == 0);
    TELL(tpslmsg_end(job));
    TELL(tpslmsg_open(job, 0, &port));
    TELL(tpslmsg_post(port, second, 1));
    TELL(tpslmsg_reap(port, c, 1, 1, 1));
    TELL(tpslmsg_register(port, words, sizeof words, &key));
    for (int code = 1; code >= -9; code--)
        printf("%d: %s\n", code, tpslmsg_text(code));
    return 0;
}
