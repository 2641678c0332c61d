/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * application: a program with a main and a loop of its own that is no MPI program. It reads lines "EDGE RANKS" from its input, and
 * solves Poisson's equation for each on that many MPI ranks, which share its memory. Nothing of MPI stays between two lines.
 */

#include "poisson.h"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

namespace {

struct Problem {
	int edge;
	poisson_report report;
};

/* Runs on each rank. All get the same report, so rank 0 notes it. */
int solve(void *argument)
{
	auto &problem = *static_cast<Problem *>(argument);
	const poisson_report report = poisson_solve(MPI_COMM_WORLD, problem.edge);
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		problem.report = report;
	return report.error < 1e-6 ? 0 : 1;
}

bool answer(const std::string &line)
{
	Problem problem = {};
	int ranks = 0;

	if (!(std::istringstream(line) >> problem.edge >> ranks) || ranks < 1 || problem.edge < ranks) {
		std::fprintf(stderr, "application: %s: want two numbers, EDGE RANKS, with EDGE >= RANKS >= 1\n", line.c_str());
		return false;
	}
	const bool wrong = TPSL_Run(ranks, solve, &problem, nullptr) != 0;
	const poisson_report &r = problem.report;
	std::printf("edge %d, %d rank%s: %d iterations, error %.17g, %.3f s\n", problem.edge, ranks, ranks == 1 ? "" : "s", r.iterations, r.error, r.seconds);
	std::fflush(stdout);
	return !wrong;
}

}

int main()
{
	bool right = true;

	for (std::string line; std::getline(std::cin, line);)
		right = answer(line) && right;
	return right ? 0 : 1;
}
