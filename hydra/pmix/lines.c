// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include "helper.h"

#include <ftw.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* say prints one line. The thread of libpmix has lines to say, too. */
void say(const char *format, ...)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    va_list values;

    va_start(values, format);
    pthread_mutex_lock(&one_at_a_time);
    vprintf(format, values);
    putchar('\n');
    fflush(stdout);
    pthread_mutex_unlock(&one_at_a_time);
    va_end(values);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)remove(path); /* somebody else may have been faster */
    return 0;
}

void leave(int status)
{
    nftw(helper_folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    _exit(status);
}

void check(const char *what, pmix_status_t status)
{
    if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED)
        return;
    say("error %s: %s", what, PMIx_Error_string(status));
    leave(1);
}

void *must(void *memory)
{
    if (!memory)
        check("keep what a rank has said", PMIX_ERR_NOMEM);
    return memory;
}

/* hex makes a word of bytes. */
char *hex(const void *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;
    char *text = must(malloc(2 * size + 2)), *to = text;

    if (size == 0)
        *to++ = '-';
    for (size_t i = 0; i < size; i++) {
        *to++ = digits[from[i] >> 4];
        *to++ = digits[from[i] & 15];
    }
    *to = 0;
    return text;
}

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

void *unhex(const char *text, size_t *size)
{
    char *bytes;

    *size = strcmp(text, "-") ? strlen(text) / 2 : 0;
    bytes = must(calloc(*size + 1, 1));
    for (size_t i = 0; i < *size; i++)
        bytes[i] = (char)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    return bytes;
}

char *word(char **rest) { return strtok_r(NULL, " \n", rest); }

char *join(char *text, char separator, const char *more)
{
    size_t length = text ? strlen(text) : 0;

    text = must(realloc(text, length + strlen(more) + 2));
    if (length)
        text[length++] = separator;
    strcpy(text + length, more);
    return text;
}
