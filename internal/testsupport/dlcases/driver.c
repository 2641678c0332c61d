// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build ignore

/* The library that runs a script of calls of dlopen and its kin. A line is a word and its
 * arguments; what it finds is printed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *out, *end;

static void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    out += vsnprintf(out, (size_t)(end - out), format, arguments);
    va_end(arguments);
}

/* The constructors of all libraries of a case tell their names. */
static char started[4096];
void note(const char *library)
{
    strcat(strcat(started, " "), library);
}

static struct variable {
    char name[32];
    void *value;
} variables[64];

static void **variable(const char *name)
{
    struct variable *v = variables;
    while (*v->name && strcmp(v->name, name) != 0)
        v++;
    strcpy(v->name, name);
    return &v->value;
}

static int flags_of(const char *words)
{
    int flags = strstr(words, "lazy") ? RTLD_LAZY : RTLD_NOW;
    if (strstr(words, "global"))
        flags |= RTLD_GLOBAL;
    if (strstr(words, "noload"))
        flags |= RTLD_NOLOAD;
    if (strstr(words, "deep"))
        flags |= RTLD_DEEPBIND;
    return flags;
}

typedef const char *teller(void);
typedef void *finder(void *, const char *);
typedef void *opener(const char *, int);

static void tell(void *function)
{
    say("%s\n", function ? ((teller *)function)() : "nothing");
}

static void *handle_of(const char *name)
{
    return strcmp(name, "default") == 0 ? RTLD_DEFAULT : strcmp(name, "next") == 0 ? RTLD_NEXT : *variable(name);
}

/* dlsym and dlopen as code of a library calls them: of the one that a handle is of, or of one that came along. */
static void *function_of(void *handle, const char *library, const char *function)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s", library, function);
    return dlsym(handle, name);
}

static void *ask(void *handle, const char *library, void *where, const char *symbol)
{
    finder *find = (finder *)function_of(handle, library, "dlsym");
    return find ? find(where, symbol) : NULL;
}

static void *have_opened(void *handle, const char *library, const char *file)
{
    opener *open = (opener *)function_of(handle, library, "dlopen");
    return open ? open(file, RTLD_NOW) : NULL;
}

static void step(const char *word, char a[4][256])
{
    if (strcmp(word, "open") == 0) { /* open VARIABLE FILE FLAGS */
        void *h = *variable(a[0]) = dlopen(strcmp(a[1], "program") == 0 ? NULL : a[1], flags_of(a[2]));
        say("%s\n", h ? "opened" : "not opened");
    } else if (strcmp(word, "openfrom") == 0) { /* openfrom VARIABLE HANDLE LIBRARY FILE */
        void *h = *variable(a[0]) = have_opened(handle_of(a[1]), a[2], a[3]);
        say("%s\n", h ? "opened" : "not opened");
    } else if (strcmp(word, "close") == 0) { /* close VARIABLE */
        say("%d\n", dlclose(*variable(a[0])));
    } else if (strcmp(word, "same") == 0) { /* same VARIABLE VARIABLE */
        say("%s\n", *variable(a[0]) == *variable(a[1]) ? "same" : "different");
    } else if (strcmp(word, "sym") == 0) { /* sym HANDLE SYMBOL */
        tell(dlsym(handle_of(a[0]), a[1]));
    } else if (strcmp(word, "from") == 0) { /* from VARIABLE LIBRARY HANDLE SYMBOL */
        tell(ask(handle_of(a[0]), a[1], handle_of(a[2]), a[3]));
    } else if (strcmp(word, "sees") == 0) { /* sees VARIABLE LIBRARY SYMBOL: what a reference leads to */
        char name[600];
        snprintf(name, sizeof name, "%s_sees_%s", a[1], a[2]);
        tell(dlsym(handle_of(a[0]), name));
    } else if (strcmp(word, "error") == 0) { /* error: whether dlerror tells of one */
        say("%s\n", dlerror() ? "an error" : "no error");
    } else if (strcmp(word, "started") == 0) { /* started: constructors, in their order */
        say("started%s\n", started);
    } else if (strcmp(word, "cd") == 0) { /* cd FOLDER */
        say("%d\n", chdir(a[0]));
    } else {
        say("what is %s?\n", word);
    }
}

/* Runs the script, and writes to a buffer. */
void run(const char *script, char *buffer, size_t size)
{
    out = buffer;
    end = buffer + size;
    for (const char *line = script; *line; line = strchr(line, '\n') + 1) {
        char word[32], a[4][256] = {"", "", "", ""};
        int length = (int)(strchr(line, '\n') - line);
        sscanf(line, "%31s %255s %255s %255s %255s", word, a[0], a[1], a[2], a[3]);
        say("%.*s: ", length, line);
        step(word, a);
    }
}
