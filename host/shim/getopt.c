// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* getopt and its long forms, getopt(3). libc's functions keep their position in variables that
 * all ranks would share. As in libc, arguments that are not options are moved after the options,
 * unless the option string begins with + or -, or POSIXLY_CORRECT is set.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

char *optarg;
int optind = 1, opterr = 1, optopt = '?';

static char *letters;   /* the rest of a group of short options */
static int first, last; /* argv[first] to argv[last - 1] are arguments that were skipped */

enum order { MOVE, STOP, RETURN };

static enum order order_of(const char *options)
{
    if (*options == '-')
        return RETURN;
    return *options == '+' || getenv("POSIXLY_CORRECT") ? STOP : MOVE;
}

static bool is_option(const char *argument)
{
    return argument[0] == '-' && argument[1];
}

/* Moves the options that were read since then, argv[last] to argv[optind - 1], before the
 * arguments that were skipped. */
static void rotate(char **argv)
{
    for (int to = first, from = last; from < optind; to++, from++) {
        char *option = argv[from];
        memmove(&argv[to + 1], &argv[to], (size_t)(from - to) * sizeof *argv);
        argv[to] = option;
    }
    first += optind - last;
    last = optind;
}

static bool quiet(const char *options)
{
    options += *options == '+' || *options == '-';
    return !opterr || *options == ':';
}

static int missing(const char *options)
{
    options += *options == '+' || *options == '-';
    return *options == ':' ? ':' : '?';
}

struct long_options {
    const struct option *table;
    int *index;
    bool only; /* a long option may begin with one dash */
};

/* The entry that has this name of that length, or the only entry whose name begins with it. The
 * result is -1 if there is none, and -2 if there are several. */
static int find(const struct option *table, const char *name, size_t n)
{
    int found = -1;
    for (int i = 0; table[i].name; i++) {
        if (strncmp(table[i].name, name, n) != 0)
            continue;
        if (strlen(table[i].name) == n)
            return i;
        bool same = found >= 0 && table[found].has_arg == table[i].has_arg && table[found].flag == table[i].flag && table[found].val == table[i].val;
        if (found != -1 && !same)
            found = -2;
        else if (found == -1)
            found = i;
    }
    return found;
}

static void tell_ambiguous(const char *program, const char *dashes, const char *name, size_t n, const struct option *table)
{
    flockfile(stderr);
    fprintf(stderr, "%s: option '%s%s' is ambiguous; possibilities:", program, dashes, name);
    for (; table->name; table++)
        if (strncmp(table->name, name, n) == 0)
            fprintf(stderr, " '%s%s'", dashes, table->name);
    fputc('\n', stderr);
    funlockfile(stderr);
}

static int read_long(int argc, char **argv, const char *options, const struct long_options *l, const char *name, const char *dashes)
{
    size_t n = strcspn(name, "=");
    int i = find(l->table, name, n);
    const char *program = argv[0];
    optind++;
    letters = NULL;
    optopt = 0;
    if (i == -2 && !quiet(options))
        tell_ambiguous(program, dashes, name, n, l->table);
    if (i == -1 && !quiet(options))
        fprintf(stderr, "%s: unrecognized option '%s%s'\n", program, dashes, name);
    if (i < 0)
        return '?';
    const struct option *o = &l->table[i];
    if (name[n] == '=' && o->has_arg == no_argument) {
        if (!quiet(options))
            fprintf(stderr, "%s: option '%s%s' doesn't allow an argument\n", program, dashes, o->name);
        optopt = o->val;
        return '?';
    }
    if (name[n] == '=')
        optarg = (char *)name + n + 1;
    else if (o->has_arg == required_argument && optind < argc)
        optarg = argv[optind++];
    else if (o->has_arg == required_argument) {
        if (!quiet(options))
            fprintf(stderr, "%s: option '%s%s' requires an argument\n", program, dashes, o->name);
        optopt = o->val;
        return missing(options);
    }
    if (l->index)
        *l->index = i;
    if (!o->flag)
        return o->val;
    *o->flag = o->val;
    return 0;
}

static int read_short(int argc, char **argv, const char *options, const struct long_options *l)
{
    char c = *letters++;
    const char *o = c == ':' || c == ';' ? NULL : strchr(options + (*options == '+' || *options == '-'), c);
    if (!*letters)
        optind++;
    if (!o) {
        if (!quiet(options))
            fprintf(stderr, "%s: invalid option -- '%c'\n", argv[0], c);
        optopt = c;
        return '?';
    }
    bool names_long = c == 'W' && o[1] == ';' && l->table;
    if (o[1] != ':' && !names_long)
        return c;
    char *rest = *letters ? letters : NULL;
    letters = NULL;
    if (rest)
        optind++;
    else if (o[1] == ':' && o[2] == ':')
        return c;
    else if (optind < argc)
        rest = argv[optind++];
    if (!rest) {
        if (!quiet(options))
            fprintf(stderr, "%s: option requires an argument -- '%c'\n", argv[0], c);
        optopt = c;
        return missing(options);
    }
    if (names_long) {
        optind--; /* read_long adds one */
        return read_long(argc, argv, options, l, rest, "-W ");
    }
    optarg = rest;
    return c;
}

/* Finds the next option. The result is -1 if there is none. */
static int advance(int argc, char **argv, enum order order)
{
    if (order == MOVE) {
        if (first != last && last != optind)
            rotate(argv);
        else if (last != optind)
            first = optind;
        while (optind < argc && !is_option(argv[optind]))
            optind++;
        last = optind;
    }
    if (optind < argc && strcmp(argv[optind], "--") == 0) {
        optind++;
        if (first != last && last != optind)
            rotate(argv);
        else if (first == last)
            first = optind;
        last = optind = argc;
    }
    if (optind < argc)
        return 0;
    if (first != last)
        optind = first;
    return -1;
}

static int next(int argc, char *const *arguments, const char *options, const struct long_options *l)
{
    char **argv = (char **)arguments; /* getopt(3) may reorder the arguments */
    enum order order = order_of(options);
    optarg = NULL;
    if (optind == 0) {
        optind = 1;
        letters = NULL;
    }
    if (!letters && (last > optind || first > optind || optind == 1))
        first = last = optind;
    if (!letters || !*letters) {
        letters = NULL;
        if (argc < 1 || advance(argc, argv, order) < 0)
            return -1;
        char *a = argv[optind];
        if (!is_option(a)) {
            if (order == STOP)
                return -1;
            optarg = argv[optind++];
            return 1;
        }
        if (l->table && a[1] == '-')
            return read_long(argc, argv, options, l, a + 2, "--");
        if (l->only && (a[2] || !strchr(options, a[1])) && (find(l->table, a + 1, strcspn(a + 1, "=")) != -1 || !strchr(options, a[1])))
            return read_long(argc, argv, options, l, a + 1, "-");
        letters = a + 1;
    }
    return read_short(argc, argv, options, l);
}

int getopt(int argc, char *const argv[], const char *options)
{
    return next(argc, argv, options, &(struct long_options){0});
}

int __posix_getopt(int argc, char *const argv[], const char *options)
{
    char plus[strlen(options) + 2];
    plus[0] = '+';
    strcpy(plus + (*options != '+'), options);
    return getopt(argc, argv, plus);
}

int getopt_long(int argc, char *const argv[], const char *options, const struct option *table, int *index)
{
    return next(argc, argv, options, &(struct long_options){table, index, false});
}

int getopt_long_only(int argc, char *const argv[], const char *options, const struct option *table, int *index)
{
    return next(argc, argv, options, &(struct long_options){table, index, true});
}
