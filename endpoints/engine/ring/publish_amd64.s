// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

#include "textflag.h"

// A plain store: x86 keeps it behind the stores before it.

// func store(to *atomic.Uint32, value uint32)
TEXT ·store(SB), NOSPLIT, $0-12
	MOVQ to+0(FP), AX
	MOVL value+8(FP), BX
	MOVL BX, 0(AX)
	RET
