// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Names that ranks publish. They are those of PMI: strings under strings. Open MPI has bytes to publish for itself, too; these
 * stand behind a zero byte. */
#include "helper.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* is_order tells what a client wants done from what it publishes. */
static bool is_order(const pmix_info_t *info) { return !strncmp(info->key, "pmix.", 5); }

/* is_value says whether the name service has a place for what a client publishes. */
static bool is_value(const pmix_value_t *value)
{
    return (value->type == PMIX_STRING && value->data.string) || value->type == PMIX_BYTE_OBJECT;
}

/* said says a line and frees its words. */
static pmix_status_t said(const char *verb, const call *c, const char *how, char *words)
{
    say("%s %p %s %s", verb, (const void *)c, how, words ? words : "");
    free(words);
    return PMIX_SUCCESS;
}

static char *add_bytes(char *words, const void *bytes, size_t size)
{
    char *more = hex(bytes, size);

    words = join(words, ' ', more);
    free(more);
    return words;
}

static char *add(char *words, const char *text) { return add_bytes(words, text, strlen(text)); }

static char *add_value(char *words, const pmix_value_t *value)
{
    size_t size = value->data.bo.size;
    char *bytes;

    if (value->type == PMIX_STRING)
        return add(words, value->data.string);
    bytes = must(calloc(size + 1, 1));
    memcpy(bytes + 1, value->data.bo.bytes, size);
    words = add_bytes(words, bytes, size + 1);
    free(bytes);
    return words;
}

static void load_value(pmix_value_t *value, const char *text)
{
    size_t size;
    char *bytes = unhex(text, &size);

    if (size == 0 || bytes[0]) {
        value->type = PMIX_STRING;
        value->data.string = bytes;
        return;
    }
    memmove(bytes, bytes + 1, --size);
    value->type = PMIX_BYTE_OBJECT;
    value->data.bo.bytes = bytes;
    value->data.bo.size = size;
}

pmix_status_t publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t n, pmix_op_cbfunc_t done, void *data)
{
    const char *how = "keep";
    char *words = NULL;
    call *c;

    for (size_t i = 0; i < n; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_PERSISTENCE) && info[i].value.data.persist == PMIX_PERSIST_FIRST_READ)
            how = "once";
        if (is_order(&info[i]))
            continue;
        if (!is_value(&info[i].value)) {
            free(words);
            return PMIX_ERR_NOT_SUPPORTED;
        }
        words = add_value(add(words, info[i].key), &info[i].value);
    }
    c = call_new(call_done, data);
    c->done.op = done;
    return said("publish", c, how, words);
}

static void looked_up(call *c, pmix_status_t status, char *rest)
{
    pmix_pdata_t *found = NULL;
    size_t n = 0, size;

    for (char *key = word(&rest), *value; key && (value = word(&rest)); key = word(&rest)) {
        char *text = unhex(key, &size);

        found = must(realloc(found, (n + 1) * sizeof *found));
        PMIX_PDATA_CONSTRUCT(&found[n]);
        PMIX_LOAD_PROCID(&found[n].proc, helper_job, PMIX_RANK_UNDEF); /* nobody asks who has published it */
        PMIX_LOAD_KEY(found[n].key, text);
        load_value(&found[n++].value, value);
        free(text);
    }
    c->done.lookup(status, found, n, c->data);
    PMIX_PDATA_FREE(found, n);
}

pmix_status_t lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t n, pmix_lookup_cbfunc_t done, void *data)
{
    call *c = call_new(looked_up, data);
    bool wait = false;
    int seconds = 0;
    char how[16], *words = NULL;

    c->done.lookup = done;
    for (size_t i = 0; i < n; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_WAIT))
            wait = true;
        if (PMIX_CHECK_KEY(&info[i], PMIX_TIMEOUT))
            seconds = info[i].value.data.integer;
    }
    for (; keys && *keys; keys++)
        words = add(words, *keys);
    snprintf(how, sizeof how, "%d", !wait ? 0 : seconds > 0 ? seconds : INT_MAX);
    return said("lookup", c, how, words);
}

/* Without keys it is all that the client has published, which nobody keeps. */
pmix_status_t unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t n, pmix_op_cbfunc_t done, void *data)
{
    char *words = NULL;
    call *c;

    if (!keys || !*keys)
        return PMIX_ERR_NOT_SUPPORTED;
    c = call_new(call_done, data);
    c->done.op = done;
    for (; *keys; keys++)
        words = add(words, *keys);
    return said("unpublish", c, "", words);
}
