// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include <stdlib.h>

int counter = 1;
int *where = &counter;

int count(void)
{
	return counter += getenv("STEP") != NULL;
}
