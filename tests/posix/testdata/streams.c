// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The standard streams: closed, opened again, set by the program, and used by functions of libc. */
#include "posix.h"

#include <pthread.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Takes the memory that a stream had. */
static void use_memory(void)
{
    for (int i = 0; i < 8; i++)
        memset(malloc(472), 'x', 472);
}

static void closes_stdout(void)
{
    SAY("text");
    int closed = fclose(stdout);
    use_memory();
    int written = printf("lost\n"), flushed = fflush(stdout), again = fclose(stdout);
    fprintf(stderr, "%d %d %d %d %d\n", closed, written, flushed, again, fileno(stdout));
}

static void closes_stdin(void)
{
    char line[8];
    int closed = fclose(stdin);
    use_memory();
    SAY("%d %s %d", closed, fgets(line, sizeof line, stdin) ? "line" : "none", fclose(stdin));
}

/* The file gets descriptor 0, and nothing that is written to stderr. */
static void closes_all(void)
{
    fclose(stdin);
    fclose(stdout);
    fclose(stderr);
    FILE *f = fopen(path_of("log"), "w"), *g = fopen(path_of("log 1"), "w"), *h = fopen(path_of("log 2"), "w");
    int out = printf("out\n"), error = fprintf(stderr, "error\n");
    fprintf(f, "%d %d %d %d %d\n", fileno(f), fileno(g), fileno(h), out, error);
}

static void reopens_closed(void)
{
    int out = dup(STDOUT_FILENO);
    fclose(stdout);
    use_memory();
    bool same = freopen(path_of("out"), "w", stdout) == stdout;
    printf("to the file\n");
    dprintf(out, "%d %d\n", same, fileno(stdout));
}

/* What a process has read ahead goes back to the file when it exits, and not before. */
static void shares_stdin(void)
{
    char line[8] = "";
    FILE *f = fopen(path_of("lines"), "w");
    fputs("1\n2\n3\n", f);
    fclose(f);
    OK(!freopen(path_of("lines"), "r", stdin));
    pid_t child = fork();
    if (child == 0)
        exit(fgets(line, sizeof line, stdin) != line);
    int status = -1;
    waitpid(child, &status, 0);
    long before = lseek(STDIN_FILENO, 0, SEEK_CUR);
    OK(fgets(line, sizeof line, stdin) != line);
    fflush(NULL);
    SAY("%d %ld %s %ld", status, before, strtok(line, "\n"), (long)lseek(STDIN_FILENO, 0, SEEK_CUR));
}

/* What is in the buffers of other ranks stays there, and goes to their own output. */
static void flushes_lines(void)
{
    OK(setvbuf(stdout, NULL, _IOLBF, BUFSIZ));
    FILE *f = fopen(path_of("whole"), "w"), *lines = fopen(path_of("lines"), "w");
    OK(setvbuf(lines, NULL, _IOLBF, BUFSIZ));
    printf("of rank %d, ", rank);
    fputs("waits", f);
    fputs("goes", lines);
    step();
    if (rank == 0)
        _flushlbf();
    step();
    struct stat of_whole, of_lines;
    OK(stat(path_of("whole"), &of_whole));
    OK(stat(path_of("lines"), &of_lines));
    SAY("%ld %ld", (long)of_whole.st_size, (long)of_lines.st_size);
}

static void *read_line(void *stream)
{
    static char line[8];
    return fgets(line, sizeof line, stream);
}

static void *close_stream(void *stream)
{
    OK(fclose(stream));
    return NULL;
}

/* fclose waits for the thread that reads. The other ranks do not. */
static void closes_in_use(void)
{
    pthread_t reader, closer;
    int ends[2];
    void *line = "";
    OK(pipe(ends));
    fflush(stdout);
    if (rank == 0) {
        FILE *stream = fdopen(ends[0], "r");
        OK(pthread_create(&reader, NULL, read_line, stream));
        while (ftrylockfile(stream) == 0) { /* the reader has not come to it */
            funlockfile(stream);
            usleep(1000);
        }
        OK(pthread_create(&closer, NULL, close_stream, stream));
        usleep(100000);
    }
    step();
    if (rank > 0) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            exit(fclose(fopen(path_of("file"), "w")));
        waitpid(child, &status, 0);
        SAY("%d %d", status, fclose(fopen(path_of("file"), "a")));
    }
    step();
    if (rank == 0) {
        OK(write(ends[1], "line\n", 5) != 5);
        OK(pthread_join(reader, &line));
        OK(pthread_join(closer, NULL));
        SAY("%s%d", (char *)line, fcntl(ends[0], F_GETFD));
    }
}

char *gets(char *);
char *__gets_chk(char *, size_t);

/* The second one is told on stderr, as there is no terminal. */
static void reads_lines(void)
{
    char line[64];
    FILE *f = fopen(path_of("lines"), "w");
    fprintf(f, "of rank %d\n\nthird\npassword\nlast", rank);
    fclose(f);
    OK(!freopen(path_of("lines"), "r", stdin));
    SAY("%s", gets(line));
    SAY("%s.", gets(line));
    SAY("%s", __gets_chk(line, sizeof line));
    SAY("%s", getpass("Password: "));
    fputs("\n", stderr);
    SAY("%s", gets(line));
    SAY("%d %d %d", gets(line) == NULL, feof(stdin), ferror(stdin));
    SAY("%s.", getpass(""));
}

static void asks_at_the_terminal(void)
{
    char text[256] = "";
    int terminal, status = -1;
    fflush(stdout);
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child == 0) {
        const char *password = getpass("Password: ");
        printf("it was %s\n", password);
        exit(system("stty -a | grep -o ' -*echo '") == 0);
    }
    for (size_t n = 0; !strchr(text, ':'); n++)
        OK(read(terminal, text + n, 1) != 1);
    OK(write(terminal, "secret\n", 7) != 7);
    for (size_t n = strlen(text); read(terminal, text + n, 1) == 1; n++)
        ;
    waitpid(child, &status, 0);
    for (char *line = strtok(text, "\r\n"); line; line = strtok(NULL, "\r\n"))
        SAY("<%s>", line);
    SAY("%d", status);
}

const struct program programs[] = {
    PROGRAM(closes_stdout), PROGRAM(closes_stdin), PROGRAM(closes_all), PROGRAM(reopens_closed), PROGRAM(shares_stdin), PROGRAM(flushes_lines),
    PROGRAM(closes_in_use), PROGRAM(reads_lines), PROGRAM(asks_at_the_terminal), {NULL, NULL},
};
