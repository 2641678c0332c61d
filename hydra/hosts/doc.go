// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package hosts reads on which hosts a job may run: from lists, from host files, and from what resource managers tell in
// the environment.
//
// A host has a name, as it was written and never looked up, and slots: how many ranks it takes before it is the next
// host's turn. What is read is untrusted text: numbers and ranges have limits, and a name cannot be taken for an option by
// the program that will connect to it.
package hosts
