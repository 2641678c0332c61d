// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Conversions between bytes and characters. A state says which bytes of a character have come. Where the program has none, libc has
 * one for each function. Here each rank has its own. */
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>

#include "shim.h"

static mbstate_t of_mbrtowc, of_mbrlen, of_mbsrtowcs, of_mbsnrtowcs, of_wcrtomb, of_wcsrtombs, of_wcsnrtombs;
static mbstate_t of_mbrtoc8, of_mbrtoc16, of_mbrtoc32, of_c8rtomb, of_c16rtomb, of_c32rtomb, of_mbtowc, of_wctomb;

#define BY_STATE(own, name, parameters, ...)  \
    size_t(name) parameters                   \
    {                                         \
        if (!state)                           \
            state = &own;                     \
        return BEHIND(name)(__VA_ARGS__);     \
    }

size_t __mbsrtowcs_chk(wchar_t *, const char **, size_t, mbstate_t *, size_t);
size_t __mbsnrtowcs_chk(wchar_t *, const char **, size_t, size_t, mbstate_t *, size_t);
size_t __wcrtomb_chk(char *, wchar_t, mbstate_t *, size_t);
size_t __wcsrtombs_chk(char *, const wchar_t **, size_t, mbstate_t *, size_t);
size_t __wcsnrtombs_chk(char *, const wchar_t **, size_t, size_t, mbstate_t *, size_t);
int __wctomb_chk(char *, wchar_t, size_t);
size_t mbrtoc8(unsigned char *, const char *, size_t, mbstate_t *);
size_t c8rtomb(char *, unsigned char, mbstate_t *);

BY_STATE(of_mbrtowc, mbrtowc, (wchar_t *restrict wide, const char *restrict text, size_t n, mbstate_t *restrict state), wide, text, n, state)
BY_STATE(of_mbrlen, mbrlen, (const char *restrict text, size_t n, mbstate_t *restrict state), text, n, state)
BY_STATE(of_mbsrtowcs, mbsrtowcs, (wchar_t *restrict wide, const char **restrict text, size_t room, mbstate_t *restrict state), wide, text, room, state)
BY_STATE(of_mbsrtowcs, __mbsrtowcs_chk, (wchar_t *wide, const char **text, size_t room, mbstate_t *state, size_t size), wide, text, room, state, size)
BY_STATE(of_mbsnrtowcs, mbsnrtowcs, (wchar_t *restrict wide, const char **restrict text, size_t n, size_t room, mbstate_t *restrict state), wide, text, n, room, state)
BY_STATE(of_mbsnrtowcs, __mbsnrtowcs_chk, (wchar_t *wide, const char **text, size_t n, size_t room, mbstate_t *state, size_t size), wide, text, n, room, state, size)
BY_STATE(of_wcrtomb, wcrtomb, (char *restrict text, wchar_t wide, mbstate_t *restrict state), text, wide, state)
BY_STATE(of_wcrtomb, __wcrtomb_chk, (char *text, wchar_t wide, mbstate_t *state, size_t size), text, wide, state, size)
BY_STATE(of_wcsrtombs, wcsrtombs, (char *restrict text, const wchar_t **restrict wide, size_t room, mbstate_t *restrict state), text, wide, room, state)
BY_STATE(of_wcsrtombs, __wcsrtombs_chk, (char *text, const wchar_t **wide, size_t room, mbstate_t *state, size_t size), text, wide, room, state, size)
BY_STATE(of_wcsnrtombs, wcsnrtombs, (char *restrict text, const wchar_t **restrict wide, size_t n, size_t room, mbstate_t *restrict state), text, wide, n, room, state)
BY_STATE(of_wcsnrtombs, __wcsnrtombs_chk, (char *text, const wchar_t **wide, size_t n, size_t room, mbstate_t *state, size_t size), text, wide, n, room, state, size)
BY_STATE(of_mbrtoc8, mbrtoc8, (unsigned char *c, const char *text, size_t n, mbstate_t *state), c, text, n, state)
BY_STATE(of_mbrtoc16, mbrtoc16, (char16_t *restrict c, const char *restrict text, size_t n, mbstate_t *restrict state), c, text, n, state)
BY_STATE(of_mbrtoc32, mbrtoc32, (char32_t *restrict c, const char *restrict text, size_t n, mbstate_t *restrict state), c, text, n, state)
BY_STATE(of_c8rtomb, c8rtomb, (char *text, unsigned char c, mbstate_t *state), text, c, state)
BY_STATE(of_c16rtomb, c16rtomb, (char *restrict text, char16_t c, mbstate_t *restrict state), text, c, state)
BY_STATE(of_c32rtomb, c32rtomb, (char *restrict text, char32_t c, mbstate_t *restrict state), text, c, state)

extern __typeof__(mbrtowc) __mbrtowc ALSO(mbrtowc);
extern __typeof__(mbrlen) __mbrlen ALSO(mbrlen);

/* ---- without an argument for the state; no text means its start, and asks whether the locale has states ---- */

static void start(mbstate_t *state)
{
    memset(state, 0, sizeof *state);
}

int(mbtowc)(wchar_t *restrict wide, const char *restrict text, size_t n)
{
    if (!text) {
        start(&of_mbtowc);
        return BEHIND(mbtowc)(NULL, NULL, 0);
    }
    if (!*text) {
        if (wide)
            *wide = 0;
        return 0;
    }
    int result = (int)mbrtowc(wide, text, n, &of_mbtowc);
    return result < 0 ? -1 : result;
}

/* As libc's it begins at the start each time. */
int(mblen)(const char *text, size_t n)
{
    mbstate_t state = {0};
    if (!text)
        return BEHIND(mblen)(NULL, 0);
    int result = *text ? (int)mbrtowc(NULL, text, n, &state) : 0;
    return result < 0 ? -1 : result;
}

int(wctomb)(char *text, wchar_t wide)
{
    if (!text) {
        start(&of_wctomb);
        return BEHIND(wctomb)(NULL, 0);
    }
    return (int)wcrtomb(text, wide, &of_wctomb);
}

int __wctomb_chk(char *text, wchar_t wide, size_t size) /* text is not NULL: <bits/stdlib.h> */
{
    return (int)__wcrtomb_chk(text, wide, &of_wctomb, size);
}
