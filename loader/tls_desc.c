// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The vector registers that the resolvers of TLS descriptors (tls_desc_linux_amd64.S) save around a
 * call of C. The processor tells where each part of its state is in a save area (Intel SDM volume 1,
 * chapter 13). Tiles (AMX) would take 8 KiB of the stack and are not saved: no code below the call uses
 * them.
 */
#include "tls.h"

#include <cpuid.h>

enum { LEGACY = 512 + 64 /* x87 and SSE, then the header */, TILES = 17, TILE_DATA = 18, STATES = 32 };

size_t tpsl_xsave_size __attribute__((visibility("hidden"))) = 512;
uint32_t tpsl_xsave_mask __attribute__((visibility("hidden"))); /* the parts that are saved; 0 if there is no xsave, only fxsave */

__attribute__((constructor(101))) static void measure(void)
{
    unsigned a, b, c, d, enabled;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !__get_cpuid_count(0xd, 0, &enabled, &b, &c, &d))
        return;
    size_t size = LEGACY;
    enabled &= ~((1U << TILES) | (1U << TILE_DATA));
    for (unsigned i = 2; i < STATES; i++)
        if (enabled >> i & 1 && __get_cpuid_count(0xd, i, &a, &b, &c, &d) && size < a + b)
            size = a + b;
    tpsl_xsave_size = size;
    tpsl_xsave_mask = enabled;
}
