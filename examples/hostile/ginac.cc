// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// Work for GiNaC and CLN, whose expressions and numbers count references without a lock,
// those of constants that all of a process share, too.
//
//     g++ -shared -fPIC ginac.cc -o libwork.so -lginac -lcln

#include <ginac/ginac.h>
#include <sstream>

using namespace GiNaC;

// The second derivative of a product, at a rational point: an exact number, as text.
static std::string derivative(long seed)
{
    symbol x("x"), y("y");
    ex product = 1;
    for (long i = 1; i <= 3; i++)
        product *= pow(x + numeric(i + seed) * y, 2);
    ex at = expand(product).diff(x, 2).subs(lst{x == numeric(seed + 1, 7), y == numeric(3, 5)});
    std::ostringstream text;
    text << at;
    return text.str();
}

extern "C" long work(long seed)
{
    unsigned long sum = 0;
    for (int round = 0; round < 200; round++)
        for (char c : derivative(seed + round % 10))
            sum = sum * 31 + static_cast<unsigned char>(c);
    return static_cast<long>(sum & 0x7fffffffffff);
}
