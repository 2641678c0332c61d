// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/tests/bench/results"
)

// fabric makes one of so many ports as the side's keys say: model, matcher, halves.
func fabric(side results.Name, ports int) (*engine.Fabric, error) {
	o := engine.Options{Ports: ports, Model: modelOf(side)}
	for _, matcher := range match.Kinds {
		if matcher.String() == side.Get("matcher") {
			o.Matcher = matcher
		}
	}
	if side.Get("halves") == "off" {
		o.Halves = -1
	}
	return engine.New(o)
}

// modelOf returns the model that a side's key says.
func modelOf(side results.Name) (chosen engine.Model) {
	for _, model := range engine.Models() {
		if model.String() == side.Get("model") {
			chosen = model
		}
	}
	return chosen
}

// withModels names a side for each model; the default one, of a port that is not shared, has no key.
func withModels(side string) []string {
	sides := []string{side}
	for _, model := range engine.Models() {
		if model != engine.Private {
			sides = append(sides, side+"/model="+model.String())
		}
	}
	return sides
}

// stamp marks both ends of a message; one below 8 bytes has no room.
func stamp(message []byte, value uint64) {
	if len(message) >= 8 {
		binary.LittleEndian.PutUint64(message, value)
		binary.LittleEndian.PutUint64(message[len(message)-8:], value)
	}
}

// stamped tells whether a message has the mark.
func stamped(message []byte, value uint64) error {
	if len(message) < 8 {
		return nil
	}
	if a, b := binary.LittleEndian.Uint64(message), binary.LittleEndian.Uint64(message[len(message)-8:]); a != value || b != value {
		return fmt.Errorf("a message of %d bytes has the marks %d and %d, not %d", len(message), a, b, value)
	}
	return nil
}
