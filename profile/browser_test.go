// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A browser is a headless Chromium with one page, which is told what to do by the DevTools protocol (https://chromedevtools.github.io/devtools-protocol),
// over two pipes: messages in JSON that end with a zero byte.
type browser struct {
	t       *testing.T
	to      *os.File
	pipe    *os.File
	from    *bufio.Reader // of the pipe
	session string
	last    int // number of the last request
	said    []string
}

const answerLimit = time.Minute

func newBrowser(t *testing.T) *browser {
	t.Helper()
	testsupport.Require(t, "chromium-headless-shell")
	args := []string{"--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--user-data-dir=" + t.TempDir()}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	cmd := exec.Command("chromium-headless-shell", append(args, "about:blank")...)
	theirIn, to, err := os.Pipe()
	require.NoError(t, err)
	from, theirOut, err := os.Pipe()
	require.NoError(t, err)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	theirIn.Close()
	theirOut.Close()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		to.Close()
		from.Close()
	})
	b := &browser{t: t, to: to, pipe: from, from: bufio.NewReader(from)}
	b.attach()
	return b
}

func (b *browser) attach() {
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
}

// call asks for something and waits for the answer. What the page says meanwhile is kept.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.last++
	request := map[string]any{"id": b.last, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	require.NoError(b.t, err)
	_, err = b.to.Write(append(text, 0))
	require.NoError(b.t, err)
	require.NoError(b.t, b.pipe.SetReadDeadline(time.Now().Add(answerLimit)))
	for {
		text, err := b.from.ReadBytes(0)
		require.NoError(b.t, err, method)
		var m message
		require.NoError(b.t, json.Unmarshal(text[:len(text)-1], &m))
		if m.ID != b.last {
			b.heard(&m)
			continue
		}
		require.Empty(b.t, m.Error.Message, method)
		if result != nil {
			require.NoError(b.t, json.Unmarshal(m.Result, result))
		}
		return
	}
}

// A message is an answer, or tells of an event.
type message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  struct{ Message string }
}

// heard keeps what a page should not do: complain, or ask a network for something.
func (b *browser) heard(m *message) {
	switch m.Method {
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
		b.said = append(b.said, string(m.Params))
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		require.NoError(b.t, json.Unmarshal(m.Params, &p))
		if !strings.HasPrefix(p.Request.URL, "file:") && !strings.HasPrefix(p.Request.URL, "data:") {
			b.said = append(b.said, "asks for "+p.Request.URL)
		}
	}
}

// complaints returns what the page has said on the console, and asked a network for.
func (b *browser) complaints() []string {
	b.value("0") // what it has said before comes before the answer
	return b.said
}

// A window is what a page is shown in.
type window struct {
	width, height int
	dark          bool
	media         string // "print", or "" for a screen
}

func (w window) name() string {
	name := fmt.Sprintf("%d", w.width)
	if w.dark {
		name += "-dark"
	}
	return strings.Trim(name+"-"+w.media, "-")
}

func (b *browser) resize(w window) {
	b.t.Helper()
	scheme := "light"
	if w.dark {
		scheme = "dark"
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": w.width, "height": w.height, "deviceScaleFactor": 1, "mobile": w.width < 500}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": w.media, "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

func (b *browser) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
}

// value returns what an expression is on the page.
func (b *browser) value(expression string) any {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails struct {
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
	require.Empty(b.t, answer.ExceptionDetails.Exception.Description, expression)
	return answer.Result.Value
}

// until waits until an expression is true on the page.
func (b *browser) until(expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(answerLimit / 2); b.value(`!!(`+expression+`)`) != true; time.Sleep(10 * time.Millisecond) {
		require.True(b.t, time.Now().Before(deadline), "%s never came true; the page says %v", expression, b.said)
	}
}

// key presses a key and lets it go.
func (b *browser) key(name string) {
	b.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
	press := map[string]any{"type": "keyDown", "key": name, "code": name, "windowsVirtualKeyCode": codes[name]}
	if name == "Enter" {
		press["text"] = "\r"
	}
	b.call("Input.dispatchKeyEvent", press, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "code": name, "windowsVirtualKeyCode": codes[name]}, nil)
}

// picture keeps what the page looks like as a file, if go test has -artifacts.
func (b *browser) picture(name string) {
	b.t.Helper()
	var shot struct{ Data []byte }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &shot)
	require.NoError(b.t, os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), shot.Data, 0o600))
}

func quotedJS(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
