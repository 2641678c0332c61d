// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/pagetables/events"
)

func scrape(t *testing.T, address, authorization string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, "http://"+address+"/metrics", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", authorization)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

func TestServe(t *testing.T) {
	rows := []row{{owner: owner{PID: 20, Rank: 11}, Counts: events.Counts{events.Syscalls: 7, events.OffCPU: 1500e6}}, {owner: owner{PID: 20, Rank: helpers}, Counts: events.Counts{events.Syscalls: 1}}}
	stop, address, err := serve("127.0.0.1:0", "secret", func() []row { return rows })
	require.NoError(t, err)
	status, text := scrape(t, address.String(), "Bearer secret")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, text, "# TYPE tpsl_syscalls_total counter\n")
	assert.Contains(t, text, `tpsl_syscalls_total{pid="20",rank="11"} 7`+"\n")
	assert.Contains(t, text, `tpsl_syscalls_total{pid="20",rank="-"} 1`+"\n")
	assert.Contains(t, text, `tpsl_off_cpu_seconds_total{pid="20",rank="11"} 1.5`+"\n")
	for _, authorization := range []string{"", "Bearer ", "Bearer secre", "Bearer secrets", "secret"} {
		status, text = scrape(t, address.String(), authorization)
		assert.Equal(t, http.StatusUnauthorized, status, authorization)
		assert.NotContains(t, text, "tpsl_")
	}
	stop()
	_, err = http.Get("http://" + address.String())
	assert.ErrorContains(t, err, "connection refused")
}

func TestServeAddressInUse(t *testing.T) {
	stop, address, err := serve("127.0.0.1:0", "x", nil)
	require.NoError(t, err)
	defer stop()
	_, _, err = serve(address.String(), "x", nil)
	assert.ErrorContains(t, err, "-serve "+address.String()+": ")
}

func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	made, err := readToken(file)
	require.NoError(t, err)
	assert.Len(t, made, 26)
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	again, err := readToken(file)
	require.NoError(t, err)
	assert.Equal(t, made, again)

	for mode, want := range map[os.FileMode]string{0o640: "", 0o644: "everybody may use it, as its mode is 0644: run chmod o= on it", 0o602: "everybody may use it"} {
		require.NoError(t, os.Chmod(file, mode))
		_, err = readToken(file)
		if want == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, "-token "+file+": "+want)
		}
	}
	require.NoError(t, os.Chmod(file, 0o600))

	require.NoError(t, os.WriteFile(file, []byte(" \n"), 0o600))
	_, err = readToken(file)
	assert.EqualError(t, err, "-token "+file+": the file is empty")
	_, err = readToken(filepath.Join(file, "x"))
	assert.ErrorContains(t, err, "-token ")

	link, to := filepath.Join(t.TempDir(), "link"), filepath.Join(t.TempDir(), "to")
	require.NoError(t, os.Symlink(to, link))
	_, err = readToken(link)
	assert.ErrorContains(t, err, "file exists")
	assert.NoFileExists(t, to)
}
