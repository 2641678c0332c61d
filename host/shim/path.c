// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions that search a program in PATH, exec(3). libc's functions would use PATH of libc's environment.
 * A child of vfork may call these functions, so they allocate nothing. */
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim.h"

struct start {
    char *const *argv, *const *envp;
    pid_t *pid; /* if a child is spawned */
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attributes;
};

/* Starts a file; the result is an error number. */
typedef int start_function(const char *path, const struct start *);

/* If a file does not exist or may not be executed, the search continues in the next folder. */
static int search(const char *file, start_function *start, const struct start *s)
{
    const char *folder = getenv("PATH");
    int error = ENOENT, denied = 0;
    if (!*file)
        return ENOENT;
    if (strchr(file, '/'))
        return start(file, s);
    for (folder = folder ? folder : _PATH_DEFPATH; folder; folder = strchr(folder, ':') ? strchr(folder, ':') + 1 : NULL) {
        size_t n = strcspn(folder, ":");
        char path[n + 1 + strlen(file) + 1];
        memcpy(path, folder, n);
        path[n] = '/';
        strcpy(path + n + (n > 0), file);
        error = start(path, s);
        denied |= error == EACCES;
        if (error != EACCES && error != ENOENT && error != ENOTDIR && error != ESTALE && error != ENODEV && error != ETIMEDOUT)
            return error;
    }
    return denied ? EACCES : error;
}

/* A file without a known format is run as a shell script. */
static int replace(const char *path, const struct start *s)
{
    size_t n = 0;
    execve(path, s->argv, s->envp);
    if (errno != ENOEXEC)
        return errno;
    while (s->argv[n])
        n++;
    char *argv[n + 2];
    argv[0] = _PATH_BSHELL;
    argv[1] = (char *)path;
    memcpy(argv + 2, s->argv + 1, (n ? n : 1) * sizeof *argv);
    execve(_PATH_BSHELL, argv, s->envp);
    return errno;
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
    errno = search(file, replace, &(struct start){.argv = argv, .envp = envp});
    return -1;
}

int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

static int spawn(const char *path, const struct start *s)
{
    return posix_spawn(s->pid, path, s->actions, s->attributes, s->argv, s->envp);
}

/* Ends the search at the first file that can be executed, with a number that is not positive: actions, such as to open a FIFO, are done once. */
static int spawn_once(const char *path, const struct start *s)
{
    struct stat file;
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0 || stat(path, &file) != 0)
        return errno;
    return S_ISREG(file.st_mode) ? -spawn(path, s) : EACCES;
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    bool searched = !strchr(file, '/'); /* else the actions may change the folder that the path begins in */
    return abs(search(file, actions && searched ? spawn_once : spawn, &(struct start){argv, envp, pid, actions, attributes}));
}
