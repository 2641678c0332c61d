// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <unistd.h>

/* Opens a file and takes a lock on its first byte, without waiting; -1: refused. */
int lock(const char *path)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1, .l_pid = 42};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fcntl(fd, F_SETLK, &l) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The type of the lock that is in another's way, or F_UNLCK. */
int in_the_way(const char *path)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1, .l_pid = 42};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    int bad = fcntl(fd, F_GETLK, &l);
    close(fd);
    return bad ? -1 : l.l_type;
}

int unlock(int fd)
{
    struct flock l = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_len = 1};
    return fcntl(fd, F_SETLKW, &l) || close(fd);
}
