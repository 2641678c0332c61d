// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package hosts reads on which hosts a job may run: from lists, from host files, and from what resource managers tell in
// the environment.
//
// A host has a name and slots. The name stays as it was written, and is never looked up. The slots are how many ranks the
// host takes before it is the next host's turn. The package reads untrusted text. So numbers and ranges have limits, and a
// name cannot be taken for an option by the program that will connect to the host.
package hosts
