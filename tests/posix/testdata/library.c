// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What libc keeps between calls: each rank has its own, and does something else than the others. */
#include "posix.h"

#include <argp.h>
#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <error.h>
#include <fnmatch.h>
#include <ftw.h>
#include <getopt.h>
#include <glob.h>
#include <grp.h>
#include <gshadow.h>
#include <iconv.h>
#include <langinfo.h>
#include <libgen.h>
#include <locale.h>
#include <math.h>
#include <mntent.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <obstack.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <rpc/netdb.h>
#include <search.h>
#include <shadow.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <uchar.h>
#include <wchar.h>
#include <wctype.h>
#include <wordexp.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

/* Ranks take turns, so that one call comes between two of another rank. */
static void turns(void (*one)(int))
{
    for (int i = 0; i < 20; i++) {
        one(i);
        usleep(200);
    }
}

static char words[200];
static void next_word(int i)
{
    char *word = strtok(i ? NULL : words, " ");
    if (word)
        SAY("%s", word);
}

static void words_of_text(void)
{
    for (int i = 0; i < 12; i++)
        sprintf(words + strlen(words), "%d-%d ", rank, i);
    turns(next_word);
}

static void next_random(int i)
{
    SAY("%ld %d %.6f %ld", random() % 1000, rand() % 1000, drand48(), lrand48() % 1000);
}

static void random_numbers(void)
{
    next_random(0);
    srandom((unsigned)rank + 10);
    srand48(rank + 20);
    turns(next_random);
    static char state[64];
    char *before = initstate(5, state, sizeof state);
    SAY("%ld", random());
    setstate(before);
    SAY("%ld", random());
}

static void same_time(int i)
{
    time_t t = 1000000000 + rank * 86400 * 40 + i * 100000;
    struct tm *gm = gmtime(&t), *local = localtime(&t);
    char text[100];
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %Z %z", local);
    SAY("%s %d %s", text, gm->tm_yday, asctime(local));
}

static void time_zones(void)
{
    static const char *const zones[] = {"Europe/Berlin", "America/New_York", "Asia/Kolkata", "XYZ-3:30ABC,M3.2.0,M11.1.0"};
    turns(same_time);
    setenv("TZ", zones[rank % 4], 1);
    tzset();
    SAY("%s %s %ld %d", tzname[0], tzname[1], timezone, daylight);
    turns(same_time);
    struct tm tm = {.tm_year = 100, .tm_mon = 6, .tm_mday = 1 + rank, .tm_hour = 12, .tm_isdst = -1};
    SAY("%ld %d", (long)mktime(&tm), tm.tm_isdst);
    step();
    const char *end = strptime("1000000000", "%s", &tm);
    SAY("%d %d %d", *end, tm.tm_hour, tm.tm_min);
    unsetenv("TZ");
    turns(same_time);
}

static void environment(void)
{
    extern char **environ;
    char name[32], value[32];
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "POSIX_%d", i);
        snprintf(value, sizeof value, "of %d", rank);
        OK(setenv(name, value, 1));
    }
    OK(unsetenv("POSIX_7"));
    OK(setenv("POSIX_8", "kept", 0));
    static char put[] = "POSIX_9=put";
    OK(putenv(put));
    strcpy(put + 8, "PUT");
    SAY("%d %s %s %s", getenv("POSIX_7") == NULL, getenv("POSIX_8"), getenv("POSIX_9"), secure_getenv("POSIX_10"));
    int n = 0;
    for (char **e = environ; *e; e++)
        n += strncmp(*e, "POSIX_", 6) == 0;
    SAY("%d", n);
    int rc = setenv("a=b", "", 1);
    SAY("%d %m", rc);
    OK(clearenv());
    SAY("%d %d", environ == NULL, getenv("PATH") == NULL);
    char *own[] = {"ONE=1", NULL};
    environ = own;
    SAY("%s", getenv("ONE"));
    fflush(stdout);
    SAY("%d", system("echo $ONE"));
}

static void options(void)
{
    char *argv[][8] = {{"prog", "-a", "-b", "value", "rest", "-c", NULL},
                       {"prog", "rest", "--long", "--with=x", "-z", NULL},
                       {"prog", "--lon", "-b", NULL},
                       {"prog", "-ab", "-c", "--", "-a", NULL}};
    static const struct option longs[] = {{"long", 0, NULL, 'l'}, {"with", 1, NULL, 'w'}, {NULL, 0, NULL, 0}};
    char **mine = argv[rank % 4];
    int n = 0, c;
    while (mine[n])
        n++;
    opterr = 1;
    while ((c = getopt_long(n, mine, "ab:c", longs, NULL)) != -1) {
        SAY("%c %s %d", c, optarg ? optarg : "-", optind);
        usleep(500);
    }
    for (; optind < n; optind++)
        SAY("left %s", mine[optind]);
}

static void *locale_of_thread(void *unused)
{
    SAY("thread: %s %.1f", nl_langinfo(CODESET), 1.5);
    return NULL;
}

static void locales(void)
{
    static const char *const wanted[] = {"C", "C.UTF-8", "", "no_such_locale"};
    pthread_t thread;
    SAY("%s", setlocale(LC_ALL, NULL));
    const char *set = setlocale(LC_ALL, wanted[rank % 4]);
    SAY("%s", set ? set : "refused");
    SAY("%s %zu %s", nl_langinfo(CODESET), MB_CUR_MAX, localeconv()->decimal_point);
    OK(pthread_create(&thread, NULL, locale_of_thread, NULL));
    OK(pthread_join(thread, NULL));
    wchar_t wide[10] = L"";
    size_t n = mbstowcs(wide, "a\xc3\xa4z", 10);
    SAY("%zd %d %d", (ssize_t)n, (int)wide[1], iswalpha(0xe4) != 0);
    locale_t l = newlocale(LC_ALL_MASK, "C.UTF-8", NULL), before = uselocale(l);
    SAY("%zu %s", MB_CUR_MAX, nl_langinfo(CODESET));
    uselocale(before);
    SAY("%zu", MB_CUR_MAX);
    freelocale(l);
    setenv("LC_ALL", rank % 2 ? "C.UTF-8" : "C", 1);
    l = newlocale(LC_CTYPE_MASK, "", NULL);
    SAY("%s", nl_langinfo_l(CODESET, l));
    freelocale(l);
    SAY("%s", setlocale(LC_CTYPE, ""));
    SAY("%d %d", strcoll("a", "B") > 0, toupper('a'));
}

static void conversions(void)
{
    char in[] = "gr\xc3\xbc\xc3\x9f", out[32] = "", *from = in, *to = out;
    size_t left = sizeof in - 1, room = sizeof out;
    iconv_t c = iconv_open("ISO-8859-1", "UTF-8");
    SAY("%d", c != (iconv_t)-1);
    OK((int)iconv(c, &from, &left, &to, &room));
    SAY("%zu %d", strlen(out), (unsigned char)out[2]);
    OK(iconv_close(c));
    int rc = iconv_open("NO-SUCH", "UTF-8") == (iconv_t)-1;
    SAY("%d %m", rc);
    SAY("%s %ld %g", "strtol", strtol("0x1fz", NULL, 0), strtod("1e3", NULL));
}

#define TAKE(call, taken)                                                \
    do {                                                                 \
        ssize_t result = (ssize_t)(call);                                \
        SAY("%s %zd %x", #call, result, (unsigned)(taken));              \
    } while (0)

/* What _FORTIFY_SOURCE calls. */
size_t __mbsrtowcs_chk(wchar_t *, const char **, size_t, mbstate_t *, size_t);
size_t __mbsnrtowcs_chk(wchar_t *, const char **, size_t, size_t, mbstate_t *, size_t);
size_t __wcrtomb_chk(char *, wchar_t, mbstate_t *, size_t);
size_t __wcsrtombs_chk(char *, const wchar_t **, size_t, mbstate_t *, size_t);
size_t __wcsnrtombs_chk(char *, const wchar_t **, size_t, size_t, mbstate_t *, size_t);
int __wctomb_chk(char *, wchar_t, size_t);

static void checked_characters(void)
{
    wchar_t wide[8] = L"";
    char bytes[16];
    const char *from = "a\xe2\x82\xac";
    const wchar_t *to = L"\x20ac";
    TAKE(__mbsrtowcs_chk(wide, &from, 8, NULL, 8), wide[1]);
    from = "\xe2\x82\xac";
    TAKE(__mbsnrtowcs_chk(wide, &from, 3, 8, NULL, 8), wide[0]);
    TAKE(__wcrtomb_chk(bytes, 0x20ac, NULL, sizeof bytes), bytes[2]);
    TAKE(__wcsrtombs_chk(bytes, &to, 16, NULL, sizeof bytes), bytes[2]);
    to = L"\x20ac";
    TAKE(__wcsnrtombs_chk(bytes, &to, 2, 16, NULL, sizeof bytes), bytes[2]);
    TAKE(__wctomb_chk(bytes, 0x20ac, MB_LEN_MAX), bytes[2]);
}

/* The ranks take the bytes of their characters in turns, without a state of their own. */
static void characters(void)
{
    static const char *const euro[] = {"\xe2", "\x82", "\xac"}, *const face[] = {"\xf0", "\x9f", "\x98", "\x80", ""};
    static const char16_t pair[] = {0xd83d, 0xde00};
    size_t c8rtomb(char *, unsigned char, mbstate_t *), mbrtoc8(unsigned char *, const char *, size_t, mbstate_t *);
    setlocale(LC_ALL, "C.UTF-8");
    for (int i = 0; i < rank % 3; i++)
        step();
    for (int i = 0; i < 3; i++, step()) {
        wchar_t wide = 0, text[4] = L"", one = 0;
        char32_t c32 = 0;
        char bytes[8] = "";
        const char *from = euro[i];
        TAKE(mbrtowc(&wide, euro[i], 1, NULL), wide);
        TAKE(mbrlen(euro[i], 1, NULL), 0);
        TAKE(mbrtoc32(&c32, euro[i], 1, NULL), c32);
        TAKE(i == 1 ? __mbsnrtowcs_chk(text, &from, 1, 4, NULL, 4) : mbsnrtowcs(text, &from, 1, 4, NULL), text[0]);
        TAKE(mbtowc(&one, euro[i], 1), one);
        TAKE(c8rtomb(bytes, (unsigned char)*euro[i], NULL), *bytes);
    }
    for (int i = 0; i < 5; i++, step()) {
        char16_t c16 = 0;
        unsigned char c8 = 0;
        char bytes[8] = "";
        TAKE(mbrtoc16(&c16, face[i], 1, NULL), c16);
        TAKE(mbrtoc8(&c8, face[i], 1, NULL), c8);
        TAKE(c16rtomb(bytes, pair[i % 2], NULL), *bytes);
    }
    for (int i = rank % 3; i < 2; i++)
        step();
    const char *from = "a\xe2\x82\xac";
    const wchar_t *to = L"\x20ac";
    wchar_t wide[8];
    char bytes[16];
    SAY("%zd %zd", (ssize_t)mbsrtowcs(wide, &from, 8, NULL), (ssize_t)wcsrtombs(bytes, &to, 16, NULL));
    to = wide;
    SAY("%zd %zd", (ssize_t)wcsnrtombs(bytes, &to, 2, 16, NULL), (ssize_t)wcrtomb(bytes, 0x20ac, NULL));
    SAY("%zd %d", (ssize_t)c32rtomb(bytes, 0x20ac, NULL), wctomb(bytes, 0x20ac));
    SAY("%d %d %d", mbtowc(NULL, NULL, 0), mblen(NULL, 0), wctomb(NULL, 0));
    checked_characters();
    SAY("%d %d %d", mbtowc(wide, "", 1), mblen("", 1), mblen("\xe2\x82\xac", 3));
    SAY("%d %d %d", mblen("\xe2", 1), mbtowc(wide, "\xff", 1), wctomb(bytes, (wchar_t)0x7fffffff));
}

static void helps(void)
{
    static const struct argp_option known[] = {{"verbose", 'v', NULL, 0, "Says more", 0}, {0}};
    const struct argp parser = {.options = known, .args_doc = "FILE", .doc = "Takes a file."};
    char *argv[] = {"program", "--help", NULL};
    argp_parse(&parser, 2, argv, 0, NULL, NULL);
}

static void patterns(void)
{
    regex_t r;
    regmatch_t m[2];
    OK(regcomp(&r, "r([0-9]+)k", REG_EXTENDED));
    SAY("%d", regexec(&r, "xr12k", 2, m, 0));
    SAY("%d %d", (int)m[1].rm_so, (int)m[1].rm_eo);
    regfree(&r);
    OK(chdir(folder));
    for (int i = 0; i < 3 + rank; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.txt", i);
        fclose(fopen(name, "w"));
    }
    glob_t g;
    OK(glob("*.txt", 0, NULL, &g));
    SAY("%zu %s", g.gl_pathc, g.gl_pathv[g.gl_pathc - 1]);
    globfree(&g);
    SAY("%d %d", fnmatch("*.t?t", "a.txt", 0), fnmatch("a", "b", 0));
    wordexp_t w;
    setenv("WORD", "one two", 1);
    OK(wordexp("$WORD \"$WORD\" $((1+2)) $(echo command)", &w, 0));
    for (size_t i = 0; i < w.we_wordc; i++)
        SAY("%s", w.we_wordv[i]);
    wordfree(&w);
    setenv("HOME", folder, 1);
    OK(glob("~/0.*", GLOB_TILDE, NULL, &g));
    SAY("%s", g.gl_pathv[0] + strlen(folder));
    setenv("TMPDIR", folder, 1);
    SAY("%d", strncmp(tempnam("/nowhere", "x"), folder, strlen(folder)));
}

static int visited;
static int visit(const char *path, const struct stat *st, int type, struct FTW *f)
{
    visited += type == FTW_F ? 1 : 100;
    return 0;
}
static int visible(const struct dirent *d) { return d->d_name[0] != '.'; }

static void directories(void)
{
    struct dirent **list;
    OK(mkdir(path_of("a"), 0700));
    OK(mkdir(path_of("b"), 0700));
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "a/%d", i);
        fclose(fopen(path_of(name), "w"));
    }
    OK(nftw(folder, visit, 5, FTW_PHYS));
    SAY("%d", visited);
    int n = scandir(path_of("a"), &list, visible, alphasort);
    for (int i = 0; i < n; i++)
        SAY("%s", list[i]->d_name);
    char path[] = "/usr/lib/x.so";
    SAY("%s", basename(path));
    SAY("%s", dirname(path));
    char *real = realpath(path_of("a/../b"), NULL);
    SAY("%s", real + strlen(folder));
}

static int compare(const void *a, const void *b) { return strcmp(a, b); }
static int sum;
static void walk(const void *node, VISIT which, int depth)
{
    if (which == postorder || which == leaf)
        sum += *(*(const char **)node);
}

static void tables(void)
{
    static char keys[20][4];
    void *root = NULL;
    OK(hcreate(40) == 0);
    for (int i = 0; i < 20; i++) {
        snprintf(keys[i], sizeof keys[i], "%c%d", 'a' + rank, i % 10);
        hsearch((ENTRY){keys[i], keys[i]}, ENTER);
        tsearch(keys[i], &root, compare);
        usleep(200);
    }
    ENTRY *found = hsearch((ENTRY){keys[3], NULL}, FIND);
    SAY("%s", (char *)found->data);
    SAY("%d", hsearch((ENTRY){"z9", NULL}, FIND) == NULL);
    hdestroy();
    twalk(root, walk);
    SAY("%d %d", sum, tfind("none", &root, compare) == NULL);
    int numbers[] = {5, 3, 9, 1};
    int order(const void *a, const void *b, void *by) { return (*(const int *)a - *(const int *)b) * *(int *)by; }
    int by = rank % 2 ? 1 : -1;
    qsort_r(numbers, 4, sizeof *numbers, order, &by);
    SAY("%d %d", numbers[0], numbers[3]);
}

static void databases(void)
{
    for (int i = 0; i < 10; i++) {
        struct passwd *p = rank % 2 ? getpwuid(0) : getpwnam("daemon");
        usleep(300);
        struct group *g = rank % 2 ? getgrgid(0) : getgrnam("daemon");
        SAY("%s %s %s", p->pw_name, p->pw_dir, g->gr_name);
    }
    struct hostent *h = gethostbyname("127.0.0.1");
    SAY("%s %d", h->h_name, h->h_length);
    struct addrinfo *found, wants = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    OK(getaddrinfo("127.0.0.1", "80", &wants, &found));
    SAY("%d %d", found->ai_family == AF_INET, found->ai_addrlen);
    freeaddrinfo(found);
    SAY("%s", gai_strerror(getaddrinfo("not a number", NULL, &wants, &found)));
}

/* A line of a file that only this rank has. */
static FILE *file_of(const char *line)
{
    FILE *f = fopen(path_of("entry"), "w+");
    OK(f == NULL);
    OK(fprintf(f, line, rank) < 0);
    rewind(f);
    return f;
}

/* Each result stays as it is while the other ranks call the same functions. */
static void static_results(void)
{
    static const char *const services[] = {"ssh", "smtp", "http", "domain"}, *const protocols[] = {"tcp", "udp", "icmp", "ip"},
        *const programs[] = {"portmapper", "nfs", "ypserv", "mountd"}, *const users[] = {"root", "daemon", "bin", "sys"};
    static const uint16_t ports[] = {22, 25, 80, 53};
    static const int numbers[] = {6, 17, 1, 0};
    const char *user = users[rank % 4];
    int point, sign;
    char text[64];
    SAY("%s", ecvt(0, 5, &point, &sign)); /* as the first result, in each rank's buffer */
    step();
    char *e = ecvt(rank + 0.25, 5, &point, &sign), *f = fcvt(rank + 0.5, 3, &point, &sign), *large = qfcvt(1e300L * (rank + 1), 2, &point, &sign);
    char *l = l64a(rank + 1000000), *ethernet = ether_ntoa(&(struct ether_addr){{1, 2, 3, 4, 5, (unsigned char)rank}});
    snprintf(text, sizeof text, "6:5:4:3:2:%d", rank);
    struct ether_addr *address = ether_aton(text);
    struct mntent *mount = getmntent(file_of("disk%d /mnt ext4 rw 0 0\n"));
    struct passwd *p = fgetpwent(file_of("user%d:x:1:1:Name:/home:/bin/sh\n"));
    struct group *g = fgetgrent(file_of("group%d:x:1:a,b\n"));
    struct spwd *s = fgetspent(file_of("shadow%d:x:1::::::\n"));
    struct sgrp *gs = fgetsgent(file_of("gshadow%d:x:a:b\n"));
    snprintf(text, sizeof text, "text%d:x:1::::::", rank);
    struct spwd *of_text = sgetspent(text);
    snprintf(text, sizeof text, "text%d:x:a:b,c", rank);
    struct sgrp *group_of_text = sgetsgent(text);
    struct spwd *secret = getspnam(user);
    struct servent *service = getservbyname(services[rank % 4], "tcp"), *port = getservbyport(htons(ports[rank % 4]), "tcp");
    struct protoent *protocol = getprotobyname(protocols[rank % 4]), *number = getprotobynumber(numbers[rank % 4]);
    struct rpcent *rpc = getrpcbyname(programs[rank % 4]), *rpc_number = getrpcbynumber(100000 + rank % 2 * 3);
    struct netent *net = getnetbyname(rank % 2 ? "loopback" : "link-local");
    snprintf(text, sizeof text, "127.0.0.%d", rank + 1);
    struct hostent *host = gethostbyname2(text, AF_INET);
    struct lconv *conventions = localeconv();
    conventions->frac_digits = (char)rank; /* which nobody may: it tells whose memory this is */
    char name[L_tmpnam], *temporary = tmpnam(NULL), *terminal[2] = {NULL, NULL};
    OK(temporary == NULL);
    strcpy(name, temporary);
    int fd = posix_openpt(O_RDWR | O_NOCTTY);
    if (fd >= 0 && grantpt(fd) == 0 && unlockpt(fd) == 0) {
        snprintf(text, sizeof text, "%s", terminal[0] = ptsname(fd));
        terminal[1] = ttyname(open(terminal[0], O_RDWR | O_NOCTTY));
    }
    step();
    SAY("%s %s %s %zu", e, f, l, strspn(large, "0123456789"));
    SAY("%s %d", ethernet, address->ether_addr_octet[5]);
    SAY("%s %s %s %s", mount->mnt_fsname, p->pw_name, g->gr_name, g->gr_mem[1]);
    SAY("%s %s %s %s", s->sp_namp, gs->sg_namp, of_text->sp_namp, group_of_text->sg_namp);
    SAY("%s", secret ? secret->sp_namp : "no shadow");
    SAY("%s %s", service ? service->s_name : "no service", port ? port->s_name : "no service");
    SAY("%s %s", protocol ? protocol->p_name : "no protocol", number ? number->p_name : "no protocol");
    SAY("%s %s %s", rpc ? rpc->r_name : "no program", rpc_number ? rpc_number->r_name : "no program", net ? net->n_name : "no net");
    SAY("%s %d", host->h_name, (unsigned char)host->h_addr_list[0][3]);
    SAY("%d %d", conventions->frac_digits, strcmp(name, temporary));
    if (terminal[0])
        SAY("%d %d", strcmp(text, terminal[0]), strcmp(text, terminal[1]));
}

/* libc compiles its expressions at the first call. */
static void yes_or_no(void)
{
    setlocale(LC_ALL, rank % 2 ? "C.UTF-8" : "C");
    step();
    for (int i = 0; i < 200; i++)
        if (rpmatch("yes") != 1 || rpmatch("no") != 0 || rpmatch("perhaps") != -1)
            SAY("wrong at %d", i);
    SAY("%d", rpmatch("YES"));
}

static pthread_barrier_t start;

static void *look_up(void *file)
{
    pthread_barrier_wait(&start);
    OK(fgetgrent(file) == NULL);
    return NULL;
}

/* All threads find at once that the rank's buffer is too small for their entry. */
static void lookups_of_threads(void)
{
    enum { THREADS = 8, MEMBERS = 40000 };
    static char entry[64 + MEMBERS * 2] = "many:x:1:";
    for (int i = 0; i < MEMBERS; i++)
        strcpy(entry + 9 + i * 2, i ? ",a" : "aa");
    strcat(entry, "\n");
    pthread_t threads[THREADS];
    OK(pthread_barrier_init(&start, NULL, THREADS));
    for (int i = 0; i < THREADS; i++)
        OK(pthread_create(&threads[i], NULL, look_up, fmemopen(entry, strlen(entry), "r")));
    for (int i = 0; i < THREADS; i++)
        OK(pthread_join(threads[i], NULL));
    struct group *g = fgetgrent(fmemopen(entry, strlen(entry), "r"));
    SAY("%s %s", g->gr_name, g->gr_mem[MEMBERS - 1]);
}

static void mathematics(void)
{
    for (int i = 0; i < 5; i++) {
        double x = rank % 2 ? -0.5 : 2.5, y = lgamma(x);
        usleep(300);
        SAY("%.6f %d", y, signgam);
    }
    errno = 0;
    double y = log(-1.0);
    SAY("%d %m", isnan(y));
}

static void system_facts(void)
{
    struct utsname u;
    OK(uname(&u));
    SAY("%s %ld %ld", u.sysname, sysconf(_SC_PAGESIZE), sysconf(_SC_NPROCESSORS_ONLN));
    SAY("%lu %d", getauxval(AT_PAGESZ), getauxval(AT_RANDOM) != 0);
    SAY("%ld %ld", sysconf(_SC_ARG_MAX), sysconf(_SC_THREAD_KEYS_MAX));
    char name[256], big[8];
    OK(gethostname(name, sizeof name));
    SAY("%s", name);
    int rc = gethostname(big, 1);
    SAY("%d", rc);
    size_t n = confstr(_CS_PATH, name, sizeof name);
    SAY("%zu %s", n, name);
}

/* ---- streams ---- */

static void streams(void)
{
    char *text = NULL, *line = NULL;
    size_t size = 0, room = 0;
    FILE *m = open_memstream(&text, &size);
    fprintf(m, "%2$s %1$d %3$'d", rank, "positional", 1234567);
    fflush(m);
    SAY("%s", text);
    fclose(m);
    m = fmemopen(text, size, "r");
    int number;
    char word[32];
    SAY("%d", fscanf(m, "%31s %d", word, &number));
    fclose(m);
    FILE *f = tmpfile();
    fputs("one\ntwo\nthree", f);
    rewind(f);
    while (getline(&line, &room, f) >= 0)
        SAY("%zu", strlen(line));
    SAY("%d %ld", feof(f) != 0, ftell(f));
    ungetc('x', f);
    SAY("%c", getc(f));
    fclose(f);
    f = fopen(path_of("file"), "w+");
    fputws(L"wide", f);
    SAY("%d", fwide(f, 0) > 0);
    fclose(f);
    f = freopen(path_of("stdout"), "w", stdout);
    SAY("in the file, %d", f == stdout);
}

/* Output that is not flushed comes before a message of error(3). */
static void formats(void)
{
    static struct obstack stack;
    char text[64], small[4], *made = NULL;
    errno = rank % 2 ? ENOENT : EINTR;
    SAY("%m, %20m, %-30m, %%m, %d%s", rank, "%m");
    OK(snprintf(text, sizeof text, "%.3m 10m %c", 'm') < 0);
    SAY("%s", text);
    SAY("%d", snprintf(small, sizeof small, "%d", 12345));
    SAY("%s %d", small, sprintf(text, "%2$*1$d", 5, 7));
    SAY("%d", asprintf(&made, "%s%a", text, 1.5 + rank));
    SAY("%s", made);
    obstack_init(&stack);
    SAY("%d", obstack_printf(&stack, "grows %d", rank));
    fflush(stdout);
    OK(dprintf(1, "at once %m\n") < 0);
    setvbuf(stdout, NULL, _IOFBF, 4096);
    OK(dup2(1, 2) < 0);
    warnx("%s", "before");
    SAY("flushed by error");
    error(0, ENOENT, "rank %d", rank);
    _exit(0);
}

static void wide_streams(void)
{
    wchar_t line[32], text[32];
    char bytes[64] = "";
    int n = 0;
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = fopen(path_of("wide"), "w+");
    SAY("%d", fwide(f, 0));
    SAY("%d", fputwc(L'\x20ac', f));
    SAY("%d", fwide(f, -1) > 0);
    OK(fwprintf(f, L"%d %ls %s\nsecond\n", rank, L"\xe9t\xe9", "narrow") < 0);
    SAY("%d", fputs("refused", f));
    rewind(f);
    SAY("%lc", fgetwc(f));
    OK(ungetwc(L'x', f) != L'x');
    SAY("%d", fwscanf(f, L"x%d %31ls", &n, line));
    SAY("%d %ls", n, line);
    SAY("%d", fgetws(line, 32, f) != NULL);
    SAY("%ls", fgetws(line, 32, f));
    SAY("%d", fgetwc(f) == WEOF);
    OK(fclose(f));
    f = fopen(path_of("coded"), "w,ccs=ISO-8859-15");
    SAY("%d", f && fputws(L"\x20ac", f) >= 0 && fclose(f) == 0);
    f = freopen(path_of("coded"), "r", fopen(path_of("wide"), "r"));
    OK(!fgets(bytes, sizeof bytes, f));
    SAY("%zu %x", strlen(bytes), bytes[0] & 0xff);
    fclose(f);
    SAY("%d", swprintf(text, 4, L"%d", 12345));
    SAY("%d", swprintf(text, 32, L"%d %s", 1234 + rank, "text"));
    OK(swscanf(text, L"%d %l[a-z]", &n, line) != 2);
    SAY("%d %ls", n, line);
    SAY("%zu %d", wcstombs(bytes, L"\x20ac", sizeof bytes), mblen("\xe2\x82\xac", 3));
}

static void input(void)
{
    int ends[2];
    char line[64];
    OK(pipe(ends));
    OK(dprintf(ends[1], "%d first\nsecond\n42 x", rank) < 0);
    close(ends[1]);
    OK(dup2(ends[0], 0));
    SAY("%s", fgets(line, sizeof line, stdin));
    OK(scanf("%63s", line) != 1);
    SAY("%s", line);
    int n = 0;
    OK(scanf("%d", &n) != 1);
    SAY("%d %c %d %d", n, getchar(), getchar(), getchar());
    SAY("%d", feof(stdin) != 0);
}

static void *print(void *letter)
{
    flockfile(stdout);
    for (int i = 0; i < 20; i++)
        putchar_unlocked(*(char *)letter);
    putchar_unlocked('\n');
    funlockfile(stdout);
    return NULL;
}

static void streams_of_threads(void)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        OK(pthread_create(&threads[i], NULL, print, "abcdefgh" + i));
    for (int i = 0; i < 8; i++)
        OK(pthread_join(threads[i], NULL));
    SAY("%d", ftrylockfile(stdout));
    funlockfile(stdout);
}

const struct program programs[] = {
    PROGRAM(words_of_text), PROGRAM(random_numbers), PROGRAM(time_zones), PROGRAM(environment), PROGRAM(options), PROGRAM(locales),
    PROGRAM(conversions), PROGRAM(characters), PROGRAM(helps), PROGRAM(patterns), PROGRAM(directories), PROGRAM(tables), PROGRAM(databases), PROGRAM(static_results), PROGRAM(lookups_of_threads), PROGRAM(yes_or_no), PROGRAM(mathematics),
    PROGRAM(system_facts), PROGRAM(streams), PROGRAM(formats), PROGRAM(wide_streams), PROGRAM(input), PROGRAM(streams_of_threads), {NULL, NULL},
};
