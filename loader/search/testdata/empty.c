// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A library, or a program, that only its linker flags tell from others. */
int main(void) { return 0; }
