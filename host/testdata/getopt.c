/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* Prints what getopt and its long forms make of many argument lists, always the same. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int flagged;
static const struct option table[] = {
    {"all", no_argument, NULL, 'a'},        {"value", required_argument, NULL, 'V'}, {"maybe", optional_argument, NULL, 'm'},
    {"verbose", no_argument, &flagged, 77}, {"valid", no_argument, NULL, 'z'},       {"x", required_argument, NULL, 'X'},
    {NULL, 0, NULL, 0},
};
static char *words[] = {"-a",      "-b",      "-ab",   "-c",    "-cfoo",   "-abc", "-o",     "-oarg", "--",       "-",   "file", "other",
                        "--all",   "--value", "--val", "--va",  "--value=7", "--maybe", "--maybe=q", "--all=no", "--verbose",
                        "--none",  "-all",    "-x",    "-x5",   "-valid",  "-?",   "-:",     "-W",    "--x",      "-Wall", "-Wvalue=3"};
static const char *options[] = {"abc:o::", "+abc:o::", "-abc:o::", ":abc:o::", "abx:W;", "-:c:", ""};
enum { WORDS = sizeof words / sizeof *words, OPTIONS = sizeof options / sizeof *options, ROUNDS = 20000, MOST = 8 };

static void show(int argc, char **argv, int form, const char *option)
{
    int c, index = -1;
    do {
        c = form == 0 ? getopt(argc, argv, option)
            : form == 1 ? getopt_long(argc, argv, option, table, &index)
                        : getopt_long_only(argc, argv, option, table, &index);
        printf(" %d:%s:%d:%d:%d", c, optarg ? optarg : "", optind, c == '?' || c == ':' ? optopt : 0, index);
    } while (c != -1);
    for (int i = 0; i < argc; i++)
        printf(" %s", argv[i]);
    puts("");
}

int main(void)
{
    unsigned state = 1;
    for (int round = 0; round < ROUNDS; round++) {
        char *argv[MOST + 2] = {"prog"};
        int argc = 1;
        for (int n = (int)((state = state * 1103515245 + 12345) >> 16) % MOST; n > 0; n--)
            argv[argc++] = words[((state = state * 1103515245 + 12345) >> 16) % WORDS];
        int form = round % 3;
        optind = 0;
        show(argc, argv, form, options[round / 3 % OPTIONS]);
    }
}
