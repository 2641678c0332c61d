// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What dlerror tells a thread. */
#include "dl.h"
#include "thread.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Our text, from malloc, and whether dlerror has still to return it. It comes before ld.so's text. The caller of dlerror may use the
 * text until the next one is set, or until the thread ends. */
static __thread char *message __attribute__((tls_model("initial-exec")));
static __thread bool pending __attribute__((tls_model("initial-exec")));

static void leave(void)
{
    free(message);
    message = NULL;
    pending = false;
}

__attribute__((constructor(101))) static void add_to_thread_end(void)
{
    tpsl_thread_end_step(TPSL_END_DLERROR, leave);
}

void tpsl_dlerror_set(const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    free(message);
    message = text;
    pending = true;
    tpsl_thread_end_watch();
}

void tpsl_dlerror_clear(void)
{
    pending = false;
    dlerror();
}

char *tpsl_dlerror_own(void)
{
    if (!pending)
        return NULL;
    pending = false;
    return message ? message : "no memory for the message";
}

char *tpsl_dlerror(void)
{
    char *own = tpsl_dlerror_own();
    if (own)
        return own;
    TPSL_INSIDE; /* libc looks for a translation */
    return dlerror();
}
