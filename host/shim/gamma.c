// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* lgamma(3) stores the sign in a variable. Here each rank has its own variable. */
#include <math.h>

#include "shim.h"

int __signgam;
extern int signgam __attribute__((weak, alias("__signgam")));

double lgamma(double x) { return lgamma_r(x, &__signgam); }
float lgammaf(float x) { return lgammaf_r(x, &__signgam); }
long double lgammal(long double x) { return lgammal_r(x, &__signgam); }
double gamma(double x) { return lgamma(x); }
float gammaf(float x) { return lgammaf(x); }
long double gammal(long double x) { return lgammal(x); }
