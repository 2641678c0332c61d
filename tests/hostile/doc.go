// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package hostile runs the examples of examples/hostile: libraries that are not made for
// threads, in eight threads at once, each with a private copy. There are only tests here.
package hostile
