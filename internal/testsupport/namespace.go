// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// namespaceLimit is how long a machine of namespaces may take to come up.
const namespaceLimit = 2 * time.Minute

// A Namespace is a small machine of its own: network, processes and mounts, with its own /dev/shm. It takes root, and ends
// with the test.
type Namespace struct {
	PID int // of its first process, as the test sees it
	env []string
}

// unshare is the command that makes a machine; a bash script follows.
var unshare = strings.Fields("unshare --net --mount --ipc --uts --pid --fork --kill-child --mount-proc")

// newNamespace runs a bash script as the first process of a new machine and returns when the script is through. What
// the script starts in the background goes on. env is what Inside sets.
func newNamespace(t testing.TB, script string, env ...string) *Namespace {
	t.Helper()
	Require(t, "unshare", "nsenter", "ip")
	script = "set -eu\nmount -t tmpfs none /dev/shm\nip link set lo up\n" + script + "\necho ready\nexec cat\n" // until the test closes its input, or ends
	cmd := exec.Command(unshare[0], append(unshare[1:], "bash", "-c", script)...)
	cmd.Env = append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err == nil {
		_, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("start a machine of namespaces: %v", err)
	}
	kill := func() { // the first process, which is gone when all others are; without one, unshare
		if first := children(cmd.Process.Pid); len(first) == 0 || unix.Kill(first[0], unix.SIGKILL) != nil {
			_ = cmd.Process.Kill()
		}
	}
	t.Cleanup(func() { kill(); _ = cmd.Wait() })
	limit := time.AfterFunc(namespaceLimit, kill)
	defer limit.Stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "ready" {
			return &Namespace{PID: children(cmd.Process.Pid)[0], env: env}
		}
		said.WriteString(lines.Text() + "\n")
	}
	_ = cmd.Wait()
	t.Fatalf("a machine of namespaces, which takes root, does not come up within %v:\n%s", namespaceLimit, said.String())
	return nil
}

// Inside returns the command line that runs a program in there.
func (n *Namespace) Inside(argv ...string) []string {
	enter := []string{"nsenter", "-t", strconv.Itoa(n.PID), "-n", "-m", "-i", "-u", "-p", "-r", "--wd=.", "env"}
	return append(append(enter, n.env...), argv...)
}

// Files returns the name that a file or folder in there has for the test.
func (n *Namespace) Files(name string) string { return fmt.Sprintf("/proc/%d/root%s", n.PID, name) }

// Processes lists what runs in there, as the test sees it, but for the first process.
func (n *Namespace) Processes() (found []int) {
	own, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", n.PID))
	links, _ := filepath.Glob("/proc/[0-9]*/ns/pid")
	for _, link := range links {
		pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
		if space, _ := os.Readlink(link); space == own && pid != n.PID {
			found = append(found, pid)
		}
	}
	return found
}
