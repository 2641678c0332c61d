// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The callbacks of libpmix. A client waits for the answer to each. What only the proxy can answer is a call: its address
 * is the ID of the line, and comes back with the answer. */
#include "helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

call *call_new(void (*answer)(call *, pmix_status_t, char *), void *data)
{
    call *c = must(calloc(1, sizeof *c));

    c->answer = answer;
    c->data = data;
    return c;
}

void call_done(call *c, pmix_status_t status, char *rest)
{
    if (c->done.op)
        c->done.op(status, c->data);
}

static void modex_done(call *c, pmix_status_t status, char *rest)
{
    const char *data = word(&rest);
    size_t size;
    void *bytes = unhex(data ? data : "-", &size);

    if (c->done.modex)
        c->done.modex(status, bytes, size, c->data, free, bytes);
    else
        free(bytes);
}

/* The line is out before a client gets its answer: it cannot end before it was told. */

static pmix_status_t connected(const pmix_proc_t *client, void *object, pmix_info_t info[], size_t n, pmix_op_cbfunc_t done, void *data)
{
    say("connected %u", client->rank);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t finalized(const pmix_proc_t *client, void *object, pmix_op_cbfunc_t done, void *data)
{
    say("finalized %u", client->rank);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Whomever the client names, the job ends: that is what MPI libraries want of it. The client gets no answer, but its end with the
 * others. If it went on it would leave, and libpmix then lets those go on who wait for it in a fence. */
static pmix_status_t aborted(const pmix_proc_t *client, void *object, int status, const char text[], pmix_proc_t procs[], size_t n,
                             pmix_op_cbfunc_t done, void *data)
{
    const char *end = text ? strpbrk(text, "\r\n") : NULL;

    say("abort %u %d %.*s", client->rank, status, end ? (int)(end - text) : -1, text ? text : "");
    return PMIX_SUCCESS;
}

static uint32_t number(const unsigned char *at) { return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]; }

/* help_text finds the text in a message of Open MPI 4: the file and topic of the text, a flag, the text. Each is a count,
 * which is one, and a value: a byte, or a string behind its length, which counts the zero byte at the end. */
static const char *help_text(const pmix_byte_object_t *message)
{
    enum { FILE_NAME, TOPIC, FLAG, TEXT };
    const unsigned char *at = (const unsigned char *)message->bytes, *end = at + message->size;

    for (int item = FILE_NAME; end - at > 8; item++) {
        uint32_t length = item == FLAG ? 1 : number(at + 4);

        at += item == FLAG ? 4 : 8;
        if (length == 0 || length > end - at)
            break;
        if (item == TEXT)
            return at[length - 1] ? "" : (const char *)at;
        at += length;
    }
    return "";
}

/* Open MPI says by this what it has to say to people. It must not be answered before this returns. */
static void logged(const pmix_proc_t *client, const pmix_info_t data[], size_t n, const pmix_info_t directives[], size_t ndirectives,
                   pmix_op_cbfunc_t done, void *cbdata)
{
    call *c = call_new(call_done, cbdata);
    const char *text = "";
    char *shown;

    for (size_t i = 0; i < n; i++) {
        if (data[i].value.type == PMIX_STRING && data[i].value.data.string &&
            (PMIX_CHECK_KEY(&data[i], PMIX_LOG_STDERR) || PMIX_CHECK_KEY(&data[i], PMIX_LOG_STDOUT)))
            text = data[i].value.data.string;
        if (data[i].value.type == PMIX_BYTE_OBJECT && PMIX_CHECK_KEY(&data[i], PMIX_LOG_MSG))
            text = help_text(&data[i].value.data.bo);
    }
    c->done.op = done;
    shown = hex(text, strlen(text));
    say("log %p %u %s", (void *)c, client->rank, shown);
    free(shown);
}

/* is_space says whether a name that a client gives can be one of mpiexec's: others could not stand in a line. */
static bool is_space(const char *name) { return *name && !strpbrk(name, " \t\r\n,:;"); }

/* meet has the proxy bring ranks together, which may be anywhere. */
static pmix_status_t meet(const char *verb, call *c, const pmix_proc_t procs[], size_t n, const void *bytes, size_t size)
{
    char *who = NULL, *data, one[PMIX_MAX_NSLEN + 16];

    for (size_t i = 0; i < n; i++) {
        if (!is_space(procs[i].nspace)) {
            free(who);
            free(c);
            return PMIX_ERR_BAD_PARAM;
        }
        if (procs[i].rank == PMIX_RANK_WILDCARD)
            sprintf(one, "%s:*", procs[i].nspace);
        else
            sprintf(one, "%s:%u", procs[i].nspace, procs[i].rank);
        who = join(who, ',', one);
    }
    data = hex(bytes, size);
    say("%s %p %s %s", verb, (void *)c, who, data);
    free(who);
    free(data);
    return PMIX_SUCCESS;
}

static pmix_status_t fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo, char *blob, size_t size,
                           pmix_modex_cbfunc_t done, void *data)
{
    call *c = call_new(modex_done, data);
    pmix_status_t status;

    c->done.modex = done;
    status = meet("fence", c, procs, nprocs, blob, size);
    if (status == PMIX_SUCCESS)
        free(blob);
    return status;
}

static pmix_status_t connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t done, void *data)
{
    call *c = call_new(call_done, data);

    c->done.op = done;
    return meet("connect", c, procs, nprocs, NULL, 0);
}

static pmix_status_t disconnect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t done,
                                void *data)
{
    call *c = call_new(call_done, data);

    c->done.op = done;
    return meet("disconnect", c, procs, nprocs, NULL, 0);
}

static pmix_status_t get(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo, pmix_modex_cbfunc_t done, void *data)
{
    call *c;

    if (!is_space(proc->nspace))
        return PMIX_ERR_NOT_FOUND;
    c = call_new(modex_done, data);
    c->done.modex = done;
    say("get %p %s %u", (void *)c, proc->nspace, proc->rank);
    return PMIX_SUCCESS;
}

static void modexed(pmix_status_t status, char *data, size_t size, void *token)
{
    char *text = hex(data, status == PMIX_SUCCESS ? size : 0);

    say("modexed %s %s", (char *)token, text);
    free(text);
    free(token);
}

static pmix_status_t status_of(const char *text)
{
    static const struct {
        const char *text;
        pmix_status_t status;
    } table[] = {{"ok", PMIX_SUCCESS}, {"missing", PMIX_ERR_NOT_FOUND}, {"exists", PMIX_ERR_DUPLICATE_KEY}, {"failed", PMIX_ERROR}};

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(text, table[i].text))
            return table[i].status;
    return PMIX_ERROR;
}

void calls_line(const char *verb, char *rest)
{
    if (!strcmp(verb, "done")) {
        pmix_status_t status;
        void *at = NULL;
        call *c;

        sscanf(word(&rest), "%p", &at);
        c = at;
        status = status_of(word(&rest));
        c->answer(c, status, rest);
        free(c);
    } else if (!strcmp(verb, "modex")) {
        char *token = must(strdup(word(&rest)));
        pmix_proc_t proc;

        PMIX_LOAD_PROCID(&proc, helper_job, (pmix_rank_t)strtoul(word(&rest), NULL, 10));
        if (PMIx_server_dmodex_request(&proc, modexed, token) != PMIX_SUCCESS)
            modexed(PMIX_ERROR, NULL, 0, token);
    }
}

pmix_server_module_t helper_calls = {
    .client_connected2 = connected,
    .client_finalized = finalized,
    .abort = aborted,
    .log = logged,
    .fence_nb = fence,
    .direct_modex = get,
    .connect = connect,
    .disconnect = disconnect,
    .publish = publish,
    .lookup = lookup,
    .unpublish = unpublish,
    .spawn = spawn,
};
