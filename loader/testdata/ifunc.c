// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* IRELATIVE (a local one) and references to an exported STT_GNU_IFUNC. */
static int base = 40;
static int plus_two(void) { return base + 2; }
static void *choose(void) { return plus_two; }
int chosen(void) __attribute__((ifunc("choose")));
static int hidden_chosen(void) __attribute__((ifunc("choose")));
int (*chosen_pointer)(void) = chosen;
int by_call(void) { return chosen(); }
int by_hidden(void) { return hidden_chosen(); }
int by_pointer(void) { return chosen_pointer(); }
void set_base(int b) { base = b; }
