// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Programs that a rank wants started. */
#include "helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void spawned(call *c, pmix_status_t status, char *rest)
{
    const char *space = word(&rest);
    pmix_nspace_t name;

    PMIX_LOAD_NSPACE(name, space);
    c->done.spawn(status, name, c->data);
}

/* add puts a word and a text behind words. */
static char *add(char *words, const char *what, const char *text)
{
    char *more = hex(text, strlen(text));

    words = join(join(words, ' ', what), ' ', more);
    free(more);
    return words;
}

static char *add_app(char *words, const pmix_app_t *app)
{
    static const struct {
        const char *key, *what;
    } known[] = {{PMIX_WDIR, "wdir"}, {PMIX_HOST, "host"}, {PMIX_HOSTFILE, "hostfile"}};
    char ranks[16];

    snprintf(ranks, sizeof ranks, "%d", app->maxprocs);
    words = add(join(join(words, ' ', "app"), ' ', ranks), "arg", app->cmd);
    for (char **arg = app->argv ? app->argv + 1 : NULL; arg && app->argv[0] && *arg; arg++)
        words = add(words, "arg", *arg);
    for (char **setting = app->env; setting && *setting; setting++)
        words = add(words, "env", *setting);
    if (app->cwd)
        words = add(words, "wdir", app->cwd);
    for (size_t i = 0; i < app->ninfo; i++)
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (PMIX_CHECK_KEY(&app->info[i], known[k].key) && app->info[i].value.type == PMIX_STRING &&
                app->info[i].value.data.string)
                words = add(words, known[k].what, app->info[i].value.data.string);
    return words;
}

pmix_status_t spawn(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo, const pmix_app_t apps[], size_t n,
                    pmix_spawn_cbfunc_t done, void *data)
{
    char *words = NULL;
    call *c;

    for (size_t i = 0; i < n; i++)
        if (!apps[i].cmd || apps[i].maxprocs < 1)
            return PMIX_ERR_BAD_PARAM;
    if (n == 0)
        return PMIX_ERR_BAD_PARAM;
    c = call_new(spawned, data);
    c->done.spawn = done;
    for (size_t i = 0; i < n; i++)
        words = add_app(words, &apps[i]);
    say("spawn %p %s", (void *)c, words ? words : "");
    free(words);
    return PMIX_SUCCESS;
}
