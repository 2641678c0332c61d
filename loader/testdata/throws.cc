// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Throws and catches, all inside, or through dl_iterate_phdr. */
#include <cstring>
#include <link.h>
#include <stdexcept>
#include <string>

static int destroyed;

struct witness {
    ~witness() { destroyed++; }
};

__attribute__((noinline)) static int thrower(int n)
{
    witness w;
    throw std::runtime_error(std::to_string(n));
}

extern "C" int caught(int n)
{
    try {
        return thrower(n);
    } catch (const std::exception &e) {
        return std::stoi(e.what());
    }
}

extern "C" int unwound() { return destroyed; }

/* A visitor leaves by an exception at an object of an instance. */
static int leave(struct dl_phdr_info *info, size_t, void *)
{
    if (std::strstr(info->dlpi_name, "libthrows.so"))
        throw 1;
    return 0;
}

extern "C" int left(int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *))
{
    try {
        return iterate(leave, nullptr);
    } catch (int thrown) {
        return thrown;
    }
}
