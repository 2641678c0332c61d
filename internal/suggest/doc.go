// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package suggest finds the word that a user meant to type.
package suggest
