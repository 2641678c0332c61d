// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package carriertest is what the tests of all carriers have in common: ways to send and to
// await, processes to try them in, and what every carrier must do with messages of every size, short buffers and peers
// that are gone.
//
// It is for tests only. A function that fails ends its goroutine, and marks the test as failed. So a goroutine
// other than the test's tells its end by defer.
package carriertest
