// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package frame has what the frames of carriers between hosts have in common: the header that
// each begins with, and the words that follow in most. All numbers are little-endian. The kinds of frames, and
// what of them makes sense, are the carriers' own.
//
// A Header is plain data.
package frame
