// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include <stdio.h>

int main(void)
{
	fputs("hello\n", stdout);
	return 0;
}
