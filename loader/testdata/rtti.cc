// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Exceptions and types that pass from one instance to another: the class is the same by
 * its name, if not by its address. */
#include <stdexcept>
#include <typeinfo>

struct base {
    virtual ~base() = default;
};
struct derived : base {
    int n;
    explicit derived(int n) : n(n) {}
};

extern "C" void throw_one(int n) { throw derived(n); }
extern "C" base *make(int n) { return new derived(n); }

/* What the other instance's function throws is caught as ours. */
extern "C" int catch_from(void (*thrower)(int), int n)
{
    try {
        thrower(n);
    } catch (const base &b) {
        const derived *d = dynamic_cast<const derived *>(&b);
        return d && typeid(b) == typeid(derived) ? d->n : -1;
    }
    return -2;
}

/* Another instance's object is one of ours. */
extern "C" int own(base *b)
{
    derived *d = dynamic_cast<derived *>(b);
    int n = d ? d->n : -1;
    delete b;
    return n;
}

template <typename T> int &of_template() /* STB_GNU_UNIQUE */
{
    static int state;
    return state;
}
extern "C" int template_state() { return ++of_template<int>(); }
