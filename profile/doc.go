// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package profile knows what the ranks of a job did in MPI: it puts together what they have counted, reads and writes that as a file, and
// tells it as text and as a page.
package profile
