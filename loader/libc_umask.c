// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The file mode mask of the process. A library reads it by setting another mask and then the old
 * one, as MPI-IO does at each MPI_File_open. If two instances did so at the same time, one would
 * restore the mask that the other one had set, and other users could then read the program's files.
 *
 * So an instance sets nothing. It sees what it has set until it puts the process's mask
 * back; the files that it makes meanwhile have the process's mask.
 */
#include "libc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STRICTEST = 077 };

/* umask(2) can read the mask only by changing it. proc_pid_status(5) has it since Linux 4.7. If
 * it is not there, for example without /proc, the mask excludes other users. */
static mode_t process_mask(void)
{
    char text[512]; /* the mask is on the second line */
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *line = strstr(text, "\nUmask:");
    return line ? (mode_t)strtoul(line + 7, NULL, 8) : STRICTEST;
}

mode_t tpsl_umask(mode_t mask)
{
    static __thread bool is_set __attribute__((tls_model("initial-exec")));
    static __thread mode_t set __attribute__((tls_model("initial-exec")));
    mode_t process = process_mask(), before = is_set ? set : process;
    set = mask & 0777;
    is_set = set != process;
    return before;
}
