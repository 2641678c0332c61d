// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package testsupport builds the system, compiles C fixtures and runs programs
// with a time limit, for the tests of every other package and the benchmarks.
//
// A tool that a test must have is named with [Require]: without it the test is
// skipped, and fails where CI=true.
//
// [NothingLeft] compares what a process can leave behind: files in /dev/shm,
// SysV segments, child processes and file descriptors. It looks at the whole
// test process, so it is not for tests that run in parallel with others of the
// same package. The other functions may be called from any goroutine.
package testsupport
