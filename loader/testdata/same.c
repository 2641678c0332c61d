// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

int answer(void) { return ANSWER; }
int ask(void) { return answer(); }
