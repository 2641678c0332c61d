// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

int old_answer(void) { return 1; }
int new_answer(void) { return 2; }
__asm__(".symver old_answer, answer@V1");
__asm__(".symver new_answer, answer@@V2");
