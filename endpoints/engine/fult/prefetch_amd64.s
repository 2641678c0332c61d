// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include "go_asm.h"
#include "textflag.h"

// A prefetch of an address that is no longer mapped does nothing.

// func goroutine() uintptr
TEXT ·goroutine(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET

// func prefetch(t *Thread)
TEXT ·prefetch(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), AX
	MOVQ Thread_stack(AX), BX
	PREFETCHT0 -128(BX)
	PREFETCHT0 -64(BX)
	PREFETCHT0 0(BX)
	PREFETCHT0 64(BX)
	PREFETCHT0 128(BX)
	PREFETCHT0 192(BX)
	MOVQ Thread_goroutine(AX), BX
	PREFETCHT0 0(BX)
	PREFETCHT0 64(BX)
	PREFETCHT0 128(BX)
	PREFETCHT0 192(BX)
	PREFETCHT0 256(BX)
	PREFETCHT0 320(BX)
	PREFETCHT0 384(BX)
	MOVQ (Thread_seat+seat_pull)(AX), BX
	PREFETCHT0 0(BX)
	PREFETCHT0 63(BX)
	MOVQ (Thread_seat+seat_coro)(AX), BX
	PREFETCHT0 0(BX)
	PREFETCHT0 63(BX)
	MOVQ (Thread_seat+seat_next)(AX), BX
	PREFETCHT0 0(BX)
	MOVQ (Thread_seat+seat_yield)(AX), BX
	PREFETCHT0 0(BX)
	RET

// func prefetchLine(t *Thread)
TEXT ·prefetchLine(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), AX
	PREFETCHT0 0(AX)
	RET
