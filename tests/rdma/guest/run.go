// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Result is what a command did.
type Result struct {
	Stdout, Stderr string
	Code           int // 128+N after death by signal N
}

// killLimit is how long a command may take to end when killed.
const killLimit = 20 * time.Second

// Run runs a command in guest 0 or 1 and waits for its end. It starts in the caller's working directory, as root, with the
// environment of a login and env ("NAME=value") added. Processes that it leaves behind in that guest are killed. When ctx ends
// first, the command is killed and the error is ctx's cause; the guest lives on. Several commands may run at once.
func (g *Group) Run(ctx context.Context, guest int, env []string, argv ...string) (Result, error) {
	m := g.machines[guest]
	id := g.runs.Add(1)
	dir := filepath.Join(g.dir, strconv.FormatInt(id, 10))
	script, err := commandScript(env, argv)
	if err == nil {
		err = os.Mkdir(dir, 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o666)
	}
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(dir)
	code, err := m.run(ctx, id)
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
		for _, other := range g.machines {
			if other != m { // what was waited for may be there
				err = fmt.Errorf("%w; guest %s: %s", err, other.name(), other.lastWords())
			}
		}
	}
	stdout, outErr := os.ReadFile(filepath.Join(dir, "stdout"))
	stderr, errErr := os.ReadFile(filepath.Join(dir, "stderr"))
	if err == nil {
		err = errors.Join(outErr, errErr)
	}
	return Result{string(stdout), string(stderr), code}, err
}

// commandScript writes a command for sh.
func commandScript(env, argv []string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	words := []string{"cd", quote(dir), "&&", "exec", "env"}
	for _, word := range slices.Concat(env, argv) {
		words = append(words, quote(word))
	}
	return strings.Join(words, " ") + "\n", nil
}

// quote makes a word of sh.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// run has the guest's agent run script id.
func (m *machine) run(ctx context.Context, id int64) (int, error) {
	end := make(chan int, 1)
	m.mu.Lock()
	m.ends[id] = end
	m.mu.Unlock()
	m.tell("run", id)
	select {
	case code := <-end:
		return code, nil
	case <-m.gone:
		return 0, m.death()
	case <-ctx.Done():
	}
	return 0, errors.Join(context.Cause(ctx), m.end(id, end))
}

// end kills a command, again and again: it may only be about to start.
func (m *machine) end(id int64, end <-chan int) error {
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for limit := time.After(killLimit); ; {
		m.tell("kill", id)
		select {
		case <-end:
			return nil
		case <-m.gone:
			return m.death()
		case <-limit:
			return fmt.Errorf("it does not end within %v of being killed; guest %s: %s", killLimit, m.name(), m.lastWords())
		case <-again.C:
		}
	}
}

// tell gives the agent a line. A guest that cannot hear it is one that is gone.
func (m *machine) tell(word string, id int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _ = fmt.Fprintln(m.channel, word, id)
}

// listen reads the agent's lines until the process is gone.
func (m *machine) listen() {
	for lines := bufio.NewScanner(m.channel); lines.Scan(); {
		var id int64
		var code int
		if lines.Text() == "up" {
			close(m.up)
		} else if n, _ := fmt.Sscanf(lines.Text(), "end %d %d", &id, &code); n == 2 {
			m.mu.Lock()
			if end := m.ends[id]; end != nil {
				end <- code
			}
			delete(m.ends, id)
			m.mu.Unlock()
		}
	}
}
