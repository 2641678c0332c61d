// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package ownjob serves PMI to the ranks of a job that one process makes of itself, without a launcher.
//
// A session is a pair of sockets in the process: the rank's MPI library has one end, the server of package pmi the other. All ranks are
// local, so a barrier is complete when all of them are in it, and there is nobody above who could spawn further worlds.
//
// All functions may be called from any goroutine.
package ownjob
