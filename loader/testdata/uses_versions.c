// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

int answer_v1(void);
int answer_v2(void);
__asm__(".symver answer_v1, answer@V1");
__asm__(".symver answer_v2, answer@V2");
int both(void) { return answer_v1() * 10 + answer_v2(); }
