/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* talk: latency and stream in one job, for hosts on which the start of a job takes seconds. */

#include "ends.h"

static void run(const struct end *e)
{
	latency(e);
	stream(e);
}

int main(int argc, char **argv)
{
	return run_ends(argc, argv, run);
}
