// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package plots draws what the benchmarks measured, as SVG and PNG.
//
// A figure is a row of panels with the same axes; a panel has lines of points,
// each a median with its interval. Which figures there are, and what of the
// measured goes where, is the table in figures.go. Ratios draws one picture more,
// of the ratios that a reader looks for first. The same results give the same
// files, byte for byte.
//
// The drawing is gonum.org/v1/plot's. Use the package from one goroutine.
package plots
