// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/match"
)

// AnySource and AnyTag leave open where a receive's message comes from, and its tag.
const (
	AnySource = match.AnySource
	AnyTag    = match.AnyTag
)

// An Envelope says which message: that of a send names the destination in Peer, that
// of a receive or a status the source. Only equal contexts match.
type Envelope = match.Envelope

// A Status says what came: the envelope without wildcards, and the bytes that a
// receive put into its buffer, a send sent, or a probe has found.
type Status struct {
	Envelope
	Bytes int
}

// What a call or an operation may end with.
var (
	ErrTruncated = errors.New("the message is longer than the buffer")
	ErrCancelled = errors.New("the operation was cancelled")
	ErrStale     = errors.New("the request has been waited for already")
	ErrPeerGone  = carrier.ErrPeerGone
	ErrClosed    = errors.New("the fabric is closed")
)

// outcome is an operation's end as a number that C could share.
type outcome uint8

const (
	fine outcome = iota
	truncated
	cancelled // without a message, as those that follow
	peerGone
	closed
	noRegion
)

var outcomes = [...]error{fine: nil, truncated: ErrTruncated, cancelled: ErrCancelled, peerGone: ErrPeerGone, closed: ErrClosed, noRegion: ErrNoRegion}

func (o outcome) err() error { return outcomes[o] }
