// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package collector keeps Go's collector out of the way of a program whose cores are for others.
package collector
