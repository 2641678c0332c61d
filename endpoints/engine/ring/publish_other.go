// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || race

package ring

import "sync/atomic"

func store(to *atomic.Uint32, value uint32) { to.Store(value) }
