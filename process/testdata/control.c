// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Prints the lines that the launcher gets, and whether one is sent when the number of the descriptor is another
 * file's. */
#include "process.h"

#include <stdio.h>
#include <unistd.h>

int main(void)
{
    int launcher[2], other[2];
    char text[512];
    struct tpsl_job job = {.nranks = 1};
    if (pipe(launcher) != 0 || pipe(other) != 0)
        return 1;
    tpsl_wire_open(&job.control, launcher[1]);
    bool told = tpsl_tell_start(&job, 3, 41) & tpsl_tell_fault(&job, 3, 11) & tpsl_tell_leave(&job, 3) & tpsl_tell_exit(&job, 3, 41, 139);
    ssize_t n = read(launcher[0], text, sizeof text);
    fwrite(text, 1, n > 0 ? (size_t)n : 0, stdout);
    dup2(other[1], launcher[1]);
    printf("told %d, to another file %d\n", told, tpsl_tell_exit(&job, 3, 41, 0));
    tpsl_wire_open(&job.control, -1);
    printf("without a launcher %d\n", tpsl_tell_exit(&job, 3, 41, 0));
    return 0;
}
