// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tpsl/tpsl/internal/topology"
)

// A Binding names the objects of the hardware that ranks are bound to. The zero value leaves ranks where the scheduler puts them.
type Binding struct {
	Object string         // "", none, rr, user, a topology.Kind, pci, or a device: gpu, ib, en, hfi, hsn
	ID     string         // of one device: its address on the bus, its number, or its full name
	Count  int            // objects for each rank
	User   []topology.Set // CPUs for each rank
}

// Active reports whether ranks are bound.
func (b Binding) Active() bool { return b.Object != "" && b.Object != "none" }

// String writes the binding in the form that ParseBinding reads.
func (b Binding) String() string {
	text := b.Object + b.ID
	switch b.Object {
	case "pci":
		text = "pci:" + b.ID
	case "user":
		var sets []string
		for _, set := range b.User {
			sets = append(sets, strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(set)), " ", "+"), "[]"))
		}
		text = "user:" + strings.Join(sets, ",")
	}
	if b.Count > 1 {
		text += ":" + strconv.Itoa(b.Count)
	}
	return text
}

// sameObject maps other names that Hydra accepts for an object to our name of it.
var sameObject = map[string]string{"package": "socket", "numanode": "numa", "eth": "en"}

var (
	hardware = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(machine|numa|numanode|socket|package|core|hwthread|l[1-5][diu]?cache)(?::(.*))?$`)
	})
	device = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(gpu|ib|en|eth|hfi|hsn)([a-z0-9_.-]*)(?::(.*))?$`) })
)

// ParseBinding reads the objects that ranks are bound to: OBJECT, OBJECT:COUNT, DEVICE, pci:ADDRESS or user:CPUS,CPUS...
func ParseBinding(text string) (Binding, error) {
	lower := strings.ToLower(text)
	object, rest, _ := strings.Cut(lower, ":")
	switch {
	case lower == "none" || lower == "rr":
		return Binding{Object: lower, Count: 1}, nil
	case object == "user" && rest != "":
		user, err := parseUserBinding(rest)
		return Binding{Object: object, Count: 1, User: user}, err
	case object == "pci" && rest != "":
		return Binding{Object: object, ID: rest, Count: 1}, nil
	}
	if words := hardware().FindStringSubmatch(lower); words != nil {
		return countedBinding(words[1], "", words[2])
	}
	if words := device().FindStringSubmatch(lower); words != nil && (words[2] == "" || words[3] == "") {
		return countedBinding(words[1], words[2], words[3])
	}
	return Binding{}, fmt.Errorf("%q is not one of none, rr, user:LIST, machine, numa, socket, core, hwthread, l1cache to l5cache, "+
		"pci:ADDRESS, gpu, ib, en, hfi, hsn", text)
}

// ParseMapping reads the objects to which ranks are dealt in turn. It accepts what ParseBinding accepts, except words that name no
// hardware.
func ParseMapping(text string) (Binding, error) {
	b, err := ParseBinding(text)
	if err == nil && slices.Contains([]string{"none", "rr", "user"}, b.Object) {
		return Binding{}, fmt.Errorf("%q is no hardware to go round", text)
	}
	return b, err
}

func countedBinding(object, id, count string) (Binding, error) {
	if name, found := sameObject[object]; found {
		object = name
	}
	if strings.HasSuffix(object, "dcache") || strings.HasSuffix(object, "ucache") {
		object = object[:2] + "cache" // our name of a cache that holds data, with or without instructions
	}
	b := Binding{Object: object, ID: id, Count: 1}
	if count == "" {
		return b, nil
	}
	var err error
	if b.Count, err = strconv.Atoi(count); err != nil || b.Count < 1 {
		return Binding{}, fmt.Errorf("%q is not a number of objects, 1 or more", count)
	}
	return b, nil
}

// parseUserBinding reads CPUs for each rank: 0+2,1,4-7x2. A number after x repeats the entry.
func parseUserBinding(list string) ([]topology.Set, error) {
	var sets []topology.Set
	for entry := range strings.SplitSeq(list, ",") {
		text, times, repeated := strings.Cut(entry, "x")
		cpus, err := topology.ParseSet(strings.ReplaceAll(text, "+", ","))
		if err != nil || len(cpus) == 0 {
			return nil, fmt.Errorf("%q is not CPU numbers", text)
		}
		count := 1
		if repeated {
			if count, err = strconv.Atoi(times); err != nil || count < 1 || count > MaxRanks {
				return nil, fmt.Errorf("%q is not a number of ranks from 1 to %d", times, MaxRanks)
			}
		}
		sets = append(sets, slices.Repeat([]topology.Set{cpus}, count)...)
	}
	return sets, nil
}
