// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/loader"
)

// A wrapper is what code of an instance finds in place of a library's function, however it looks, and has the function of
// that instance behind it. A tool in front of the library stays there.
func TestWrappers(t *testing.T) {
	defer loader.Configure(loader.Config{})
	low := libraryNamed(t, "libwrapped.so", "wrapper.c", "-DLOW")
	front := libraryNamed(t, "libfront.so", "wrapper.c", append(linkTo(low), "-DFRONT")...)
	late := libraryNamed(t, "liblate.so", "wrapper.c", "-DLATE", "-Wl,-z,undefs")
	plain := libraryNamed(t, "libtop.so", "wrapper.c", linkTo(low)...)
	behind := libraryNamed(t, "libbehind.so", "wrapper.c", append([]string{"-Wl,--no-as-needed"}, append(linkTo(front), linkTo(low)...)...)...)
	function, err := open(t, libraryNamed(t, "libwrapper.so", "wrapper.c", "-DWRAPPER", "-Wl,-z,undefs")).Symbol("value")
	require.NoError(t, err)
	configure := func(library string) {
		loader.Configure(loader.Config{Wrappers: loader.Wrappers{
			Libraries: []string{library}, Functions: map[string]unsafe.Pointer{"value": *(*unsafe.Pointer)(unsafe.Pointer(&function))},
		}})
	}
	values := func(i *loader.Instance) (all []int) {
		for _, name := range []string{"called", "by_pointer", "looked_up", "from_inside"} {
			all = append(all, call(t, i, name))
		}
		return append(all, call(t, i, "by_handle", cString(t, "libwrapped.so")), call(t, i, "by_opened", cString(t, late)))
	}
	configure("libwrapped.so")
	for range 2 {
		assert.Equal(t, []int{11, 12, 13, 14, 15, 16}, values(open(t, plain)))
	}
	assert.Equal(t, []int{111, 112, 113, 114, 15, 116}, values(open(t, behind)), "by the handle of the library no tool is in front")
	configure("libother.so")
	assert.Equal(t, []int{1, 2, 3, 4, 5, 6}, values(open(t, plain)), "a library of another name")
}
