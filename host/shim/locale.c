// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* setlocale(3) changes data that libc has once for all ranks, and concurrent calls free
 * memory that others read. So a rank's locale is an object that its threads use. These are the
 * thread that sets the locale, and all threads that are made later (tpsl_thread_begins). The
 * objects are never freed, because other threads may use them.
 */
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

static const struct category {
    int number;
    const char *name;
} categories[] = {
    {LC_CTYPE, "LC_CTYPE"},
    {LC_NUMERIC, "LC_NUMERIC"},
    {LC_TIME, "LC_TIME"},
    {LC_COLLATE, "LC_COLLATE"},
    {LC_MONETARY, "LC_MONETARY"},
    {LC_MESSAGES, "LC_MESSAGES"},
    {LC_PAPER, "LC_PAPER"},
    {LC_NAME, "LC_NAME"},
    {LC_ADDRESS, "LC_ADDRESS"},
    {LC_TELEPHONE, "LC_TELEPHONE"},
    {LC_MEASUREMENT, "LC_MEASUREMENT"},
    {LC_IDENTIFICATION, "LC_IDENTIFICATION"},
};
enum { CATEGORIES = sizeof categories / sizeof *categories, NAME = 256 };

/* A locale that the rank has had. The newest one is the first. Its names are never freed, because
 * callers keep the result of setlocale. */
static struct made {
    struct made *older;
    locale_t locale;
    char name[]; /* of LC_ALL */
} *made;
static struct made *_Atomic current; /* NULL means libc's locale, which is "C" */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static locale_t global(void)
{
    const struct made *m = current;
    return m ? m->locale : LC_GLOBAL_LOCALE;
}

static char *name_of(const struct category *c)
{
    return current ? nl_langinfo_l(_NL_LOCALE_NAME(c->number), current->locale) : "C";
}

static char *answer(int category)
{
    for (int i = 0; i < CATEGORIES; i++)
        if (categories[i].number == category)
            return name_of(&categories[i]);
    return current ? current->name : "C";
}

/* The name that the environment gives for "" (locale(7)). */
static const char *from_environment(const char *category)
{
    const char *const variables[] = {"LC_ALL", category, "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value)
            return value;
    }
    return "C";
}

/* The part for a category in a name of LC_ALL, "LC_CTYPE=a;LC_NUMERIC=b...". */
static bool part(char out[NAME], const char *whole, const char *category)
{
    const char *at = strchr(whole, ';') ? strstr(whole, category) : NULL;
    at = at ? at + strlen(category) + 1 : whole;
    size_t n = at == whole ? strlen(at) : strcspn(at, ";");
    if (n >= NAME)
        return false;
    memcpy(out, at, n);
    out[n] = 0;
    if (strcmp(out, "POSIX") == 0)
        strcpy(out, "C"); /* the name that libc uses */
    return true;
}

static bool wanted(char out[NAME], const struct category *c, int category, const char *name)
{
    if (category != LC_ALL && category != c->number)
        return part(out, name_of(c), c->name);
    if (!*name)
        return part(out, from_environment(c->name), c->name);
    return part(out, name, c->name);
}

/* The name of LC_ALL. It is the name that all categories have, or a list of their names. */
static char *join(char names[CATEGORIES][NAME])
{
    static char text[CATEGORIES * (NAME + 32)];
    bool same = true;
    size_t n = 0;
    for (int i = 1; i < CATEGORIES; i++)
        same &= strcmp(names[i], names[0]) == 0;
    if (same)
        return strcpy(text, names[0]);
    for (int i = 0; i < CATEGORIES; i++)
        n += (size_t)sprintf(text + n, "%s%s=%s", i ? ";" : "", categories[i].name, names[i]);
    return text;
}

static locale_t make(char names[CATEGORIES][NAME])
{
    locale_t l = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    for (int i = 0; l && i < CATEGORIES; i++) {
        locale_t next = newlocale(1 << categories[i].number, names[i], l);
        if (!next)
            freelocale(l);
        l = next;
    }
    return l;
}

/* The locale of these names. Preconditions: lock. */
static struct made *find(char names[CATEGORIES][NAME])
{
    const char *name = join(names);
    for (struct made *m = made; m; m = m->older)
        if (strcmp(m->name, name) == 0)
            return m;
    locale_t l = make(names);
    struct made *m = l ? malloc(sizeof *m + strlen(name) + 1) : NULL;
    if (!m)
        return NULL;
    m->older = made;
    m->locale = l;
    strcpy(m->name, name);
    made = m;
    return m;
}

static bool is_category(int category)
{
    bool is = category == LC_ALL;
    for (int i = 0; i < CATEGORIES; i++)
        is |= categories[i].number == category;
    return is;
}

static bool set(int category, const char *name)
{
    char names[CATEGORIES][NAME];
    for (int i = 0; i < CATEGORIES; i++)
        if (!wanted(names[i], &categories[i], category, name))
            return false;
    locale_t before = global();
    struct made *m = find(names);
    if (!m)
        return false;
    current = m;
    if (BEHIND(uselocale)(NULL) == before) /* the thread has no locale of its own */
        BEHIND(uselocale)(m->locale);
    return true;
}

char *setlocale(int category, const char *name)
{
    char *result = NULL;
    if (!is_category(category)) {
        errno = EINVAL;
        return NULL;
    }
    pthread_mutex_lock(&lock);
    if (!name || set(category, name))
        result = answer(category);
    pthread_mutex_unlock(&lock);
    return result;
}

/* LC_GLOBAL_LOCALE means the locale of the rank. */
locale_t uselocale(locale_t l)
{
    locale_t before = BEHIND(uselocale)(l == LC_GLOBAL_LOCALE ? global() : l);
    return before == global() ? LC_GLOBAL_LOCALE : before;
}

locale_t duplocale(locale_t l)
{
    TPSL_INSIDE;
    return BEHIND(duplocale)(l == LC_GLOBAL_LOCALE ? global() : l);
}

extern __typeof__(uselocale) __uselocale ALSO(uselocale);
extern __typeof__(duplocale) __duplocale ALSO(duplocale);

void tpsl_thread_begins(void)
{
    if (current)
        BEHIND(uselocale)(current->locale);
}

/* ---- what libc keeps in static variables, filled anew where the locale is another one ---- */

/* As libc says that there is none. */
static char *grouping(nl_item item)
{
    char *groups = nl_langinfo(item);
    return *groups == '\177' || *groups == '\377' ? (char *)"" : groups;
}

static char number(nl_item item)
{
    char n = *nl_langinfo(item);
    return n == '\377' ? CHAR_MAX : n;
}

struct lconv *localeconv(void)
{
    static struct lconv own;
    own = (struct lconv){
        .decimal_point = nl_langinfo(DECIMAL_POINT),
        .thousands_sep = nl_langinfo(THOUSANDS_SEP),
        .grouping = grouping(GROUPING),
        .int_curr_symbol = nl_langinfo(INT_CURR_SYMBOL),
        .currency_symbol = nl_langinfo(CURRENCY_SYMBOL),
        .mon_decimal_point = nl_langinfo(MON_DECIMAL_POINT),
        .mon_thousands_sep = nl_langinfo(MON_THOUSANDS_SEP),
        .mon_grouping = grouping(MON_GROUPING),
        .positive_sign = nl_langinfo(POSITIVE_SIGN),
        .negative_sign = nl_langinfo(NEGATIVE_SIGN),
        .int_frac_digits = number(INT_FRAC_DIGITS),
        .frac_digits = number(FRAC_DIGITS),
        .p_cs_precedes = number(P_CS_PRECEDES),
        .p_sep_by_space = number(P_SEP_BY_SPACE),
        .n_cs_precedes = number(N_CS_PRECEDES),
        .n_sep_by_space = number(N_SEP_BY_SPACE),
        .p_sign_posn = number(P_SIGN_POSN),
        .n_sign_posn = number(N_SIGN_POSN),
        .int_p_cs_precedes = number(INT_P_CS_PRECEDES),
        .int_p_sep_by_space = number(INT_P_SEP_BY_SPACE),
        .int_n_cs_precedes = number(INT_N_CS_PRECEDES),
        .int_n_sep_by_space = number(INT_N_SEP_BY_SPACE),
        .int_p_sign_posn = number(INT_P_SIGN_POSN),
        .int_n_sign_posn = number(INT_N_SIGN_POSN),
    };
    return &own;
}

struct question {
    const char *response;
    int answer;
};

static void judge(void *question)
{
    struct question *q = question;
    q->answer = BEHIND(rpmatch)(q->response);
}

int rpmatch(const char *response)
{
    struct question q = {.response = response};
    tpsl_in_turn(judge, &q);
    return q.answer;
}
