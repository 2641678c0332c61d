// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package ring

import "sync/atomic"

// store stores a value behind all that was stored before. What the caller loads afterwards may be older.
//
//go:noescape
func store(to *atomic.Uint32, value uint32)
