// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Throws and catches, all inside. */
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
