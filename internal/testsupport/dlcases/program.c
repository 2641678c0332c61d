// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build ignore

#include <stdio.h>

void run(const char *, char *, size_t);

int main(int argc, char **argv)
{
    static char text[65536];
    run(argv[1], text, sizeof text);
    fputs(text, stdout);
    return 0;
}
