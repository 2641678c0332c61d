// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
)

// Encode returns v as bytes. It panics if v is not plain data.
func Encode(v any) []byte { return write(make([]byte, 0, 256), reflect.ValueOf(v)) }

func write(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.String:
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...)
	case reflect.Slice:
		if v.IsNil() {
			return append(b, 0)
		}
		return writeList(binary.AppendUvarint(b, uint64(v.Len())+1), v)
	case reflect.Array:
		return writeList(b, v)
	case reflect.Map:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		for entries := v.MapRange(); entries.Next(); {
			b = write(write(b, entries.Key()), entries.Value())
		}
		return b
	case reflect.Struct:
		for i := range v.NumField() {
			b = write(b, v.Field(i))
		}
		return b
	}
	panic("wire: " + v.Type().String() + " is not plain data")
}

func writeList(b []byte, v reflect.Value) []byte {
	for i := range v.Len() {
		b = write(b, v.Index(i))
	}
	return b
}

var errShort = errors.New("data ends too soon")

// Decode reads what Encode wrote into what v points to, and nothing else may follow it.
func Decode(b []byte, v any) error {
	r := reader{rest: b}
	r.value(reflect.ValueOf(v).Elem())
	if !r.short && len(r.rest) == 0 {
		return nil
	}
	err := errShort
	if !r.short {
		err = fmt.Errorf("%d bytes too many", len(r.rest))
	}
	return fmt.Errorf("read %s: %w", reflect.TypeOf(v).Elem(), err)
}

// A reader takes values from the front of some bytes, until there are too few bytes.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.uint() != 0)
	case reflect.Int, reflect.Int64:
		n, size := binary.Varint(r.rest)
		r.skip(size)
		v.SetInt(n)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.uint())
	case reflect.String:
		v.SetString(string(r.bytes(r.uint())))
	case reflect.Slice:
		if n := r.uint(); n > 0 {
			v.Set(r.slice(v.Type(), n-1))
		}
	case reflect.Array:
		r.elements(v)
	case reflect.Map:
		r.entries(v)
	case reflect.Struct:
		for i := range v.NumField() {
			r.value(v.Field(i))
		}
	default:
		panic("wire: " + v.Type().String() + " is not plain data")
	}
}

// slice reads n elements, each of which takes a byte at least.
func (r *reader) slice(of reflect.Type, n uint64) reflect.Value {
	if n > uint64(len(r.rest)) {
		r.skip(0)
		n = 0
	}
	list := reflect.MakeSlice(of, int(n), int(n))
	r.elements(list)
	return list
}

func (r *reader) elements(v reflect.Value) {
	for i := range v.Len() {
		r.value(v.Index(i))
	}
}

func (r *reader) entries(v reflect.Value) {
	v.Set(reflect.MakeMap(v.Type()))
	for n := r.uint(); n > 0 && !r.short; n-- {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		r.value(key)
		r.value(value)
		v.SetMapIndex(key, value)
	}
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.rest)
	r.skip(size)
	return n
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.skip(0)
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// skip removes a number of size bytes from the front. If size is not positive, the number was not complete.
func (r *reader) skip(size int) {
	if size <= 0 {
		r.short, r.rest = true, nil
		return
	}
	r.rest = r.rest[size:]
}
