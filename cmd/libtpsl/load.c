// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Runs when libtpsl is loaded. The Go runtime starts on a thread of its own from a
 * constructor in Go's object, which the linker puts in front of this one.
 */
void _cgo_wait_runtime_init_done(void);
void tpsl_restore_signals(void);

__attribute__((constructor)) static void loaded(void)
{
    _cgo_wait_runtime_init_done();
    tpsl_restore_signals();
}
