// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a process maps while its mappings are read makes entries overlap; the later one holds.
func TestMappingsThatChange(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"grown", "2000-4000 rw-p 0 00:00 0\n2000-6000 rw-p 0 00:00 0\n7000-8000 r--p 0 00:00 0\n", "2000-6000+0 7000-8000+0"},
		{"merged", "1000-2000 rw-p 0 00:00 0\n3000-4000 rw-p 2000 08:01 7 /a\n1000-5000 rw-p 0 08:01 7 /a\n", "1000-2000+0 3000-5000+2000"},
		{"split", "1000-5000 rw-p 0 00:00 0\n2000-3000 r--p 0 00:00 0\n3000-5000 rw-p 0 00:00 0\n", "1000-2000+0 2000-3000+0 3000-5000+0"},
	} {
		var got []string
		require.NoError(t, ReadMappings(strings.NewReader(c.text), func(m *Mapping) error {
			got = append(got, fmt.Sprintf("%x-%x+%x", m.Start, m.End, m.Offset))
			assert.Equal(t, m.End-m.Start, m.Mapped, c.name)
			return nil
		}), c.name)
		assert.Equal(t, c.want, strings.Join(got, " "), c.name)
	}
	err := ReadMappings(strings.NewReader("3000-4000 rw-p 0 00:00 0\n1000-2000 rw-p 0 00:00 0\n"), func(*Mapping) error { return nil })
	assert.EqualError(t, err, "malformed mapping: 0x1000 is not behind 0x3000")
}

// The maps of a process can be read while it changes them.
func TestMappingsOfABusyProcess(t *testing.T) {
	var stop atomic.Bool
	ended := make(chan bool)
	memory, err := syscall.Mmap(-1, 0, 256*pageSize, syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	go func() {
		defer close(ended)
		for n := 0; !stop.Load(); n++ { // single pages, then one mapping again
			for page := 1; page < 256; page += 2 {
				protection := syscall.PROT_READ | n%2*syscall.PROT_WRITE
				assert.NoError(t, syscall.Mprotect(memory[page*pageSize:][:pageSize], protection))
			}
		}
	}()
	for start := time.Now(); time.Since(start) < 500*time.Millisecond; {
		f, err := os.Open("/proc/self/maps")
		require.NoError(t, err)
		assert.NoError(t, ReadMappings(f, func(*Mapping) error { return nil }))
		require.NoError(t, f.Close())
	}
	stop.Store(true)
	<-ended
	require.NoError(t, syscall.Munmap(memory))
}
