// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0
//
// wrong: one rank finds what it does not expect.

#include "check.h"

int body(int argc, char **argv)
{
    Check c(&argc, &argv);
    c.expect(c.rank != 2, "as it should be");
    return c.finish("wrong");
}
