// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// withLog runs a command where /dev/log is a socket in a folder, and the rest of /dev is as here.
const withLog = `cd "$1"; shift
mkdir shm up work
mount --bind /dev/shm shm
touch up/log
mount -t overlay none -o lowerdir=/dev,upperdir=up,workdir=work /dev
mount --bind shm /dev/shm
mount --bind log /dev/log
exec "$@"`

// The daemon of the system log hears from private ranks what it hears from flat ones, by datagrams and by a stream. A rank that ends its
// connection ends no other one's.
func TestPrivateSystemLog(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "unshare")
	program := testsupport.CC(t, "mpicc.mpich", "testdata/logs.c", "-D_GNU_SOURCE", "-O1")
	changing := regexp.MustCompile(`>\w{3} [ \d]\d \d\d:\d\d:\d\d |\[\d+\]`)
	zeros := regexp.MustCompile("0{9,}")
	for _, kind := range []string{"unixgram", "unix"} {
		t.Run(kind, func(t *testing.T) {
			heard := func(options ...string) []string {
				folder := t.TempDir()
				messages := listenTo(t, kind, filepath.Join(folder, "log"))
				argv := slices.Concat([]string{"unshare", "--mount", "sh", "-ec", withLog, "sh", folder, built(t, "bin/mpiexec"), "-n", "3"}, options, []string{program})
				run(t, nil, argv...).succeeded(t)
				said := messages()
				for i := range said {
					said[i] = zeros.ReplaceAllStringFunc(changing.ReplaceAllString(said[i], "|"), func(z string) string { return fmt.Sprint(len(z), " zeros ") })
				}
				return slices.Sorted(slices.Values(said))
			}
			flat := heard()
			require.Len(t, flat, 6)
			assert.Contains(t, flat, "<132|logs|: 2 of two: No such file or directory", "a name ends with its connection")
			assert.Equal(t, flat, heard("-rpp", "3", "-tpsl", "private"))
		})
	}
}

const lastWords = "that is all\x00"

// A thread that is cancelled in a call of the system log, or in a walk through a database, leaves no lock held.
func TestPrivateCancelledCalls(t *testing.T) {
	testsupport.NothingLeft(t)
	job := mpiexec(t, nil, "-n 3 -rpp 3 -tpsl private", posix(t, "cancelled"))
	assert.Zero(t, job.code)
	assert.Equal(t, "root\nroot\nroot\n", job.stdout)
	assert.Equal(t, "name: the last one\nname: the last one\nname: the last one\n", job.stderr)
}

// listenTo begins to take messages of the log, and returns what ends that and says them.
func listenTo(t *testing.T, kind, path string) (messages func() []string) {
	t.Helper()
	var lock sync.Mutex
	var all strings.Builder
	var readers sync.WaitGroup
	read := func(conn io.ReadCloser) (ends bool) {
		defer conn.Close()
		for buffer := make([]byte, 1<<16); !ends; {
			n, err := conn.Read(buffer)
			if err != nil {
				break
			}
			if ends = string(buffer[:n]) == lastWords; !ends {
				text := strings.TrimSuffix(string(buffer[:n]), "\x00") + "\x00" // a zero byte ends a message of a stream
				lock.Lock()
				all.WriteString(text)
				lock.Unlock()
			}
		}
		return ends
	}
	if kind == "unixgram" {
		conn, err := net.ListenUnixgram(kind, &net.UnixAddr{Name: path, Net: kind})
		require.NoError(t, err)
		readers.Go(func() { read(conn) })
	} else {
		listener, err := net.Listen(kind, path)
		require.NoError(t, err)
		readers.Go(func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return // closed
				}
				readers.Go(func() {
					if read(conn) {
						_ = listener.Close() // all who came before were accepted before
					}
				})
			}
		})
	}
	return func() []string {
		conn, err := net.Dial(kind, path)
		require.NoError(t, err)
		_, err = conn.Write([]byte(lastWords))
		require.NoError(t, err)
		_ = conn.Close()
		readers.Wait()
		return strings.Split(strings.TrimSuffix(all.String(), "\x00"), "\x00")
	}
}
