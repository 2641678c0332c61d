// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Walks through databases, sessions and the system log, while other ranks are in the midst of theirs, and one ends its own. */
#include "posix.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <rpc/netdb.h>
#include <shadow.h>
#include <sys/resource.h>
#include <syslog.h>
#include <utmpx.h>

enum { ENDS = 1, FILES = 64 }; /* the rank that ends its walks first */

static int files[FILES];

static void open_files(void)
{
    for (int i = 0; i < FILES; i++)
        files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Descriptors that the rank has not closed. */
static int open_still(void)
{
    int n = 0;
    for (int i = 0; i < FILES; i++)
        n += fcntl(files[i], F_GETFD) >= 0;
    return n;
}

/* Waits for all ranks. */
static void meet(void)
{
    static int times;
    char path[4200];
    int size = atoi(getenv("PMI_SIZE"));
    times++;
    for (int who = rank, i = -1; i < size; who = ++i) {
        snprintf(path, sizeof path, "%s/../%d/met-%d", folder, who, times);
        if (i < 0)
            close(creat(path, 0600));
        while (access(path, F_OK) != 0)
            usleep(1000);
    }
}

#define COUNT(name)                       \
    static int rest_of_##name(void)       \
    {                                     \
        int n = 0;                        \
        while (get##name())               \
            n++;                          \
        return n;                         \
    }
COUNT(pwent)
COUNT(grent)
COUNT(spent)
COUNT(hostent)
COUNT(netent)
COUNT(protoent)
COUNT(servent)
COUNT(rpcent)

#define HALF(name)                                                                                                \
    for (int i = 0; i <= rank; i++)                                                                               \
        get##name();
#define REST(name) SAY(#name " %d", rest_of_##name());

static void walks(void)
{
    HALF(pwent) HALF(grent) HALF(spent) HALF(hostent) HALF(netent) HALF(protoent) HALF(servent) HALF(rpcent)
    open_files();
    meet();
    if (rank == ENDS) {
        endpwent();
        endgrent();
        endspent();
        endhostent();
        endnetent();
        endprotoent();
        endservent();
        endrpcent();
    }
    meet();
    SAY("%d open", open_still());
    REST(pwent) REST(grent) REST(spent) REST(hostent) REST(netent) REST(protoent) REST(servent) REST(rpcent)
    meet();
    setpwent();
    REST(pwent)
}

static const char *texts(char **list)
{
    static char all[4096];
    for (all[0] = 0; *list; list++)
        strcat(strcat(all, " "), *list);
    return all;
}

static void entries(void)
{
    struct passwd *p;
    for (int i = 0; (p = getpwent()) != NULL && i < 5; i++)
        SAY("%s %s %d %d %s %s %s", p->pw_name, p->pw_passwd, (int)p->pw_uid, (int)p->pw_gid, p->pw_gecos, p->pw_dir, p->pw_shell);
    for (struct group *g; (g = getgrent()) != NULL;)
        SAY("%s %s %d%s", g->gr_name, g->gr_passwd, (int)g->gr_gid, texts(g->gr_mem));
    for (struct hostent *h; (h = gethostent()) != NULL;) {
        char text[64];
        SAY("%s %s%s", h->h_name, inet_ntop(h->h_addrtype, h->h_addr_list[0], text, sizeof text), texts(h->h_aliases));
    }
    for (struct servent *s; (s = getservent()) != NULL;)
        SAY("%s %d %s%s", s->s_name, ntohs((uint16_t)s->s_port), s->s_proto, texts(s->s_aliases));
    for (struct protoent *o; (o = getprotoent()) != NULL;)
        SAY("%s %d%s", o->p_name, o->p_proto, texts(o->p_aliases));
    p = getpwnam("root");
    endpwent();
    SAY("%s", p->pw_name);
}

/* Too little room for an entry does not skip it. */
static void buffers(void)
{
    struct passwd p, *found = &p;
    char small[4], large[4096];
    int error = getpwent_r(&p, small, sizeof small, &found);
    SAY("%d %s", error, found ? "found" : "not found");
    error = getpwent_r(&p, large + 1, sizeof large - 1, &found);
    SAY("%d %s %s", error, found->pw_name, found->pw_dir);
    while ((error = getpwent_r(&p, large, sizeof large, &found)) == 0)
        ;
    SAY("%d %s", error, found ? "found" : "not found");
    struct group g, *group;
    error = getgrent_r(&g, large + 3, sizeof large - 3, &group);
    SAY("%d %s%s", error, g.gr_name, texts(g.gr_mem));
    char *host, *user, *domain;
    error = setnetgrent("nothing");
    SAY("%d %d", error, getnetgrent(&host, &user, &domain));
    endnetgrent();
}

/* A walk that cannot open its file has an error, and the next call tries again. */
static void no_descriptor(void)
{
    struct rlimit all, none;
    getrlimit(RLIMIT_NOFILE, &all);
    none = (struct rlimit){0, all.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    for (int i = 0; i < 2; i++) {
        errno = 0;
        struct netent *n = getnetent();
        SAY("%s: %m", n ? n->n_name : "no network");
    }
    setrlimit(RLIMIT_NOFILE, &all);
    REST(netent)
}

static struct utmpx record(int type, const char *id, const char *line, const char *user)
{
    struct utmpx u = {.ut_type = (short)type, .ut_pid = 1};
    memcpy(u.ut_id, id, strlen(id));
    strcpy(u.ut_line, line);
    strcpy(u.ut_user, user);
    return u;
}

static void sessions(void)
{
    const struct utmpx all[] = {record(BOOT_TIME, "~~", "~", "reboot"), record(LOGIN_PROCESS, "1", "tty1", "LOGIN"), record(USER_PROCESS, "2", "tty2", "somebody")};
    close(creat(path_of("utmp"), 0600));
    OK(utmpxname(path_of("utmp")));
    for (int i = 0; i < 3; i++)
        SAY("%s", pututxline(&all[i])->ut_user);
    setutxent();
    for (int i = 0; i <= rank % 3; i++)
        SAY("%s", getutxent()->ut_user);
    open_files();
    meet();
    if (rank == ENDS)
        endutxent();
    meet();
    SAY("%d open", open_still());
    int n = 0;
    while (getutxent())
        n++;
    SAY("%d more", n);
    setutxent();
    struct utmpx nobody = record(USER_PROCESS, "9", "tty9", "nobody"), *found;
    SAY("%s", getutxid(&all[1])->ut_user);
    SAY("%s", getutxline(&all[2])->ut_user);
    errno = 0;
    found = getutxline(&nobody);
    SAY("%s, %m", found ? "found" : "not found");
    setutxent();
    struct utmpx changed = record(DEAD_PROCESS, "2", "tty2", "");
    SAY("%d", pututxline(&changed)->ut_type);
    setutxent();
    SAY("%s", getutxid(&all[0])->ut_user);
    endutxent();
}

static void logs(void)
{
    openlog("first name", LOG_PERROR | LOG_NDELAY, LOG_LOCAL0);
    open_files();
    meet();
    if (rank == ENDS)
        closelog();
    else
        openlog(rank ? "second name" : NULL, LOG_PERROR, 0);
    meet();
    SAY("%d open", open_still());
    errno = ENOENT;
    syslog(LOG_WARNING, "number %d: %m", 1);
    SAY("%d", setlogmask(LOG_UPTO(LOG_ERR)));
    syslog(LOG_WARNING, "number %d\n", 2);
    syslog(LOG_ERR, "number %d\n", 3);
    SAY("%d", setlogmask(0));
    closelog();
}

static void password_lock(void)
{
    int first = lckpwdf(), second = lckpwdf(), given = ulckpwdf(), again = ulckpwdf();
    SAY("%d %d %d %d", first, second, given, again);
}

const struct program programs[] = {
    PROGRAM(walks), PROGRAM(entries), PROGRAM(buffers), PROGRAM(no_descriptor), PROGRAM(sessions), PROGRAM(logs), PROGRAM(password_lock), {NULL, NULL},
};
