// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A library with a key of thread-specific data. */
#include <pthread.h>

static pthread_key_t key;
static int *witness;

static void destroy(void *value)
{
    *witness = *(int *)value;
}

int make_key(int *to)
{
    witness = to;
    return pthread_key_create(&key, destroy);
}

int drop_key(void)
{
    return pthread_key_delete(key);
}

int set_value(void)
{
    static int value = 7;
    return pthread_setspecific(key, &value);
}
