// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// func processorAndNode() uint32
//
// RDTSCP gives, beside the time, a number that Linux keeps for each processor:
// node<<12 | processor (arch/x86/include/asm/segment.h).
TEXT ·processorAndNode(SB), NOSPLIT, $0-4
	RDTSCP
	MOVL CX, ret+0(FP)
	RET
