// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What the files of lib/tpsl/pmix know of each other. main.c says what the program does. */
#ifndef TPSL_PMIX_HELPER_H
#define TPSL_PMIX_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix.h>
#include <pmix_server.h>

extern const char *helper_job;    /* the name space of our ranks */
extern const char *helper_folder; /* for all that libpmix makes */
extern const char *helper_host;   /* our name, as mpiexec has it */

/* lines.c: what is said to the proxy, and read from it. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
void check(const char *what, pmix_status_t status); /* ends the program if there is an error */
_Noreturn void leave(int status);
void *must(void *memory);
char *hex(const void *bytes, size_t size);               /* "-" for none */
void *unhex(const char *text, size_t *size);             /* with a zero byte behind */
char *word(char **rest);                                 /* cuts the next one off, or returns NULL */
char *join(char *text, char separator, const char *more); /* frees text, which may be NULL */

/* job.c: which ranks there are. */
bool job_line(const char *verb, char *rest);
void job_serve(void);

/* calls.c: what ranks ask for that the proxy answers. */
typedef struct call call;
struct call {
    void (*answer)(call *, pmix_status_t, char *rest); /* of the proxy's line */
    union {
        pmix_modex_cbfunc_t modex;
        pmix_op_cbfunc_t op;
        pmix_lookup_cbfunc_t lookup;
        pmix_spawn_cbfunc_t spawn;
    } done;
    void *data;
};
call *call_new(void (*answer)(call *, pmix_status_t, char *), void *data);
void call_done(call *, pmix_status_t, char *); /* an answer to those that have done.op */
void calls_line(const char *verb, char *rest);
extern pmix_server_module_t helper_calls;

/* names.c, spawn.c */
pmix_status_t publish(const pmix_proc_t *, const pmix_info_t[], size_t, pmix_op_cbfunc_t, void *);
pmix_status_t lookup(const pmix_proc_t *, char **, const pmix_info_t[], size_t, pmix_lookup_cbfunc_t, void *);
pmix_status_t unpublish(const pmix_proc_t *, char **, const pmix_info_t[], size_t, pmix_op_cbfunc_t, void *);
pmix_status_t spawn(const pmix_proc_t *, const pmix_info_t[], size_t, const pmix_app_t[], size_t, pmix_spawn_cbfunc_t, void *);

#endif
