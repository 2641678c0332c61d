// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package textfile reads text files that a user names: files of hosts, and of options.
package textfile
