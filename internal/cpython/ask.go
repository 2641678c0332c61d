// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package cpython

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// askLimit bounds how long an interpreter may take to say what it is. It is generous: its files may come from a slow file system. A test sets it.
var askLimit = 20 * time.Second

// facts are what an interpreter says of itself.
type facts struct {
	executable string // sys.executable
	version    string // as in "3.11.2"
	library    string // the name of its libpython
	folder     string // where one lies that was installed with it
}

// The question. It goes to -I -S -c: no variable, folder or module of the user's changes the answer. A shim may print before.
const (
	mark     = "\x00tpsl\x00"
	question = `import os, sys
say = sys.executable, sys.version.split()[0], "libpython%d.%d%s.so.1.0" % (sys.version_info[:2] + (sys.abiflags,)), sys.base_exec_prefix + "/lib"
sys.stdout.buffer.write(b"\0tpsl\0" + b"\0".join(map(os.fsencode, say)))`
)

// ask asks the interpreter at path, under a name, what it is. What the user preloads for the ranks is left out. How the interpreter ends
// is of no interest: in a proxy, which collects all its children, that is not to be learned.
func ask(path, name string, place Place) (*facts, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	var out, errOut bytes.Buffer
	command := exec.CommandContext(ctx, path)
	command.Args = []string{name, "-I", "-S", "-c", question}
	command.Dir, command.Stdout, command.Stderr = place.Dir, &out, &errOut
	for _, setting := range place.Env {
		if !strings.HasPrefix(setting, "LD_PRELOAD=") {
			command.Env = append(command.Env, setting)
		}
	}
	command.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	command.Cancel = func() error { return unix.Kill(-command.Process.Pid, unix.SIGKILL) }
	command.WaitDelay = time.Second
	runtime.LockOSThread() // Pdeathsig is about the thread
	defer runtime.UnlockOSThread()
	err := command.Run()
	_, answer, _ := strings.Cut(out.String(), mark)
	fields := strings.Split(answer, "\x00")
	if len(fields) == 4 && fields[0] != "" {
		return &facts{fields[0], fields[1], fields[2], fields[3]}, nil
	}
	why := errors.New("it gave no answer")
	if said := strings.TrimSpace(errOut.String()); said != "" {
		why = errors.New(said[strings.LastIndexByte(said, '\n')+1:])
	}
	if ctx.Err() != nil {
		why = fmt.Errorf("no answer in %v", askLimit)
	} else if errors.As(err, new(*fs.PathError)) { // it was not started
		why = err
	}
	return nil, fmt.Errorf("ask %s what Python it is: %w", path, why)
}
