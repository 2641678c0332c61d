// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package machine tells what figures depend on: the processor, its cores, the versions of
// what runs, and how busy the machine was with other work.
package machine
