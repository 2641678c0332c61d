// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The records of sessions (utmp(5)), and the lock of the password files (lckpwdf(3)). libc keeps one open file and one position of
 * each for all ranks. Here each rank has its own: it reads all records in its turn (turn.c of the host), and writes one in its
 * turn. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <shadow.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>

#include "inside.h"

_Static_assert(sizeof(struct utmp) == sizeof(struct utmpx), "the same records by two names");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *file; /* NULL: libc's */
static struct utmp *records;
static size_t nrecords, at;
static bool begun;
static struct utmp last; /* what a call without _r has returned */

/* ---- in the rank's turn ---- */

static void open_file(void)
{
    BEHIND(utmpname)(file ? file : _PATH_UTMP);
    BEHIND(setutent)();
}

static void close_file(void)
{
    BEHIND(endutent)();
    BEHIND(utmpname)(_PATH_UTMP);
}

/* False: no memory. */
static bool add(const struct utmp *record)
{
    struct utmp *more = realloc(records, (nrecords + 1) * sizeof *more);
    if (!more)
        return false;
    records = more;
    records[nrecords++] = *record;
    return true;
}

static void read_all(void *unused)
{
    struct utmp record, *found;
    open_file();
    while (BEHIND(getutent_r)(&record, &found) == 0 && add(&record))
        ;
    close_file();
}

struct write {
    const struct utmp *record;
    struct utmp *written;
};

static void write_one(void *data)
{
    struct write *w = data;
    open_file();
    const struct utmp *written = BEHIND(pututline)(w->record);
    if (written)
        *w->written = *written;
    else
        w->written = NULL;
    close_file();
}

/* ---- walks ---- */

static bool is_any(const struct utmp *record, const struct utmp *wanted) { return true; }

/* getutid(3): by the type, or a process by its id. */
static bool is_id(const struct utmp *record, const struct utmp *wanted)
{
    if (wanted->ut_type <= OLD_TIME)
        return record->ut_type == wanted->ut_type;
    bool named = *record->ut_id && *wanted->ut_id;
    return record->ut_type >= INIT_PROCESS && record->ut_type <= DEAD_PROCESS &&
           (named ? strncmp(record->ut_id, wanted->ut_id, sizeof record->ut_id) == 0
                  : strncmp(record->ut_line, wanted->ut_line, sizeof record->ut_line) == 0);
}

static bool is_line(const struct utmp *record, const struct utmp *wanted)
{
    return (record->ut_type == USER_PROCESS || record->ut_type == LOGIN_PROCESS) &&
           strncmp(record->ut_line, wanted->ut_line, sizeof record->ut_line) == 0;
}

/* The next record that is it: 0, or -1 with errno. */
static int search(bool (*is)(const struct utmp *, const struct utmp *), const struct utmp *wanted, struct utmp *record, struct utmp **found)
{
    pthread_mutex_lock(&lock);
    if (!begun) {
        begun = true;
        tpsl_in_turn(read_all, NULL);
    }
    while (at < nrecords && !is(&records[at], wanted))
        at++;
    bool is_there = at < nrecords;
    if (is_there)
        *record = records[at++];
    pthread_mutex_unlock(&lock);
    *found = is_there ? record : NULL;
    if (!is_there && is != is_any)
        errno = ESRCH;
    return is_there ? 0 : -1;
}

void setutent(void)
{
    pthread_mutex_lock(&lock);
    free(records);
    records = NULL;
    nrecords = at = 0;
    begun = false;
    pthread_mutex_unlock(&lock);
}

void endutent(void) { setutent(); }

int utmpname(const char *name)
{
    char *copy = strdup(name);
    if (!copy)
        return -1;
    setutent();
    pthread_mutex_lock(&lock);
    free(file);
    file = copy;
    pthread_mutex_unlock(&lock);
    return 0;
}

int getutent_r(struct utmp *record, struct utmp **found) { return search(is_any, NULL, record, found); }

int getutid_r(const struct utmp *wanted, struct utmp *record, struct utmp **found)
{
    if (wanted->ut_type < RUN_LVL || wanted->ut_type > DEAD_PROCESS) {
        *found = NULL;
        errno = EINVAL;
        return -1;
    }
    return search(is_id, wanted, record, found);
}

int getutline_r(const struct utmp *wanted, struct utmp *record, struct utmp **found) { return search(is_line, wanted, record, found); }

struct utmp *getutent(void)
{
    struct utmp *found;
    return getutent_r(&last, &found) == 0 ? found : NULL;
}

struct utmp *getutid(const struct utmp *wanted)
{
    struct utmp *found;
    return getutid_r(wanted, &last, &found) == 0 ? found : NULL;
}

struct utmp *getutline(const struct utmp *wanted)
{
    struct utmp *found;
    return getutline_r(wanted, &last, &found) == 0 ? found : NULL;
}

/* The record is seen by calls that follow, and the rank's position stays. */
static void note(const struct utmp *written)
{
    size_t i = 0;
    while (i < nrecords && !is_id(&records[i], written))
        i++;
    if (i < nrecords)
        records[i] = *written;
    else
        add(written);
}

struct utmp *pututline(const struct utmp *record)
{
    struct write w = {record, &last};
    pthread_mutex_lock(&lock);
    tpsl_in_turn(write_one, &w);
    if (begun && w.written)
        note(w.written);
    pthread_mutex_unlock(&lock);
    return w.written;
}

void setutxent(void) { setutent(); }
void endutxent(void) { endutent(); }
int utmpxname(const char *name) { return utmpname(name); }
struct utmpx *getutxent(void) { return (struct utmpx *)getutent(); }
struct utmpx *getutxid(const struct utmpx *wanted) { return (struct utmpx *)getutid((const struct utmp *)wanted); }
struct utmpx *getutxline(const struct utmpx *wanted) { return (struct utmpx *)getutline((const struct utmp *)wanted); }
struct utmpx *pututxline(const struct utmpx *record) { return (struct utmpx *)pututline((const struct utmp *)record); }

/* ---- functions of libc that open the records, and close them ---- */

struct name {
    char *name;
    size_t size;
    int result;
};

static void name_of_user(void *data)
{
    struct name *n = data;
    n->result = BEHIND(getlogin_r)(n->name, n->size);
}

int getlogin_r(char *name, size_t size)
{
    struct name n = {name, size, 0};
    tpsl_in_turn(name_of_user, &n);
    return n.result;
}

char *getlogin(void)
{
    static char name[UT_NAMESIZE + 1];
    int error = getlogin_r(name, sizeof name);
    if (error)
        errno = error;
    return error ? NULL : name;
}

static void begin_session(void *record) { BEHIND(login)(record); }
void login(const struct utmp *record) { tpsl_in_turn(begin_session, (void *)record); }

struct line {
    const char *line;
    int result;
};

static void end_session(void *data)
{
    struct line *l = data;
    l->result = BEHIND(logout)(l->line);
}

int logout(const char *line)
{
    struct line l = {line, 0};
    tpsl_in_turn(end_session, &l);
    return l.result;
}

/* ---- the password files ---- */

enum { PATIENCE_S = 15 }; /* as in libc */
static int password_lock = -1;

int lckpwdf(void)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct timespec now, end;
    int rc = -1, before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&lock);
    if (password_lock < 0 && (password_lock = open("/etc/.pwd.lock", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) >= 0) {
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_sec += PATIENCE_S;
        int error;
        do {
            rc = fcntl(password_lock, F_SETLK, &whole);
            error = errno;
            if (rc != 0)
                nanosleep(&pause, NULL);
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while (rc != 0 && (error == EACCES || error == EAGAIN) && now.tv_sec < end.tv_sec);
        if (rc != 0) {
            close(password_lock);
            password_lock = -1;
            errno = error;
        }
    }
    pthread_mutex_unlock(&lock);
    pthread_setcancelstate(before, NULL);
    return rc;
}

int ulckpwdf(void)
{
    pthread_mutex_lock(&lock);
    int rc = password_lock >= 0 ? close(password_lock) : -1;
    password_lock = -1;
    pthread_mutex_unlock(&lock);
    return rc;
}
