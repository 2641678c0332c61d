// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/version"
)

func TestCommands(t *testing.T) {
	t.Setenv("PBS_JOBID", "7.server")
	path, err := os.Executable()
	require.NoError(t, err)
	for _, tt := range []struct {
		opts Options
		host Host
		want string
	}{
		{Options{Launcher: "ssh"}, Host{Name: "b"}, "ssh -x -o BatchMode=yes b " + path + " +proxy"},
		{Options{Launcher: "ssh", X: "enable", ExtraArgs: []string{"-p", "2222"}}, Host{Name: "b", User: "u"},
			"ssh -X -o BatchMode=yes -p 2222 -l u b " + path + " +proxy"},
		{Options{Launcher: "ssh", Exec: "/opt/kubexec.sh", Hybrid: true}, Host{Name: "b"}, "/opt/kubexec.sh -x -o BatchMode=yes b mpiexec +proxy"},
		{Options{Launcher: "rsh"}, Host{Name: "b", User: "u"}, "rsh -l u b " + path + " +proxy"},
		{Options{Launcher: "lsf"}, Host{Name: "b", User: "u"}, "blaunch b " + path + " +proxy"},
		{Options{Launcher: "sge"}, Host{Name: "b"}, "qrsh -inherit b " + path + " +proxy"},
		{Options{Launcher: "pbs"}, Host{Name: "b"}, "ssh -x -o BatchMode=yes b pbs_attach -j 7.server " + path + " +proxy"},
		{Options{Launcher: "ll"}, Host{Name: "b"}, "llspawn.stdio b " + path + " +proxy"},
	} {
		launcher, err := newShell(tt.opts.Launcher, tt.opts)
		require.NoError(t, err)
		args := launcher.(shell).command(tt.host)
		assert.Equal(t, tt.want, strings.Join(args, " "))
		assert.Equal(t, tt.host.Name, args[len(args)-2], "the command is one argument, for a shell")
	}
}

// Every launcher that has a name exists, and every launcher has a name.
func TestNames(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // manual makes a folder
	t.Setenv("PBS_JOBID", "7.server")
	for _, name := range Names {
		_, err := New(Options{Launcher: name})
		assert.NoError(t, err)
	}
	for name := range shells {
		assert.Contains(t, Names, name)
	}
}

// This host's proxy is forked, unless it is to be another user's.
func TestHere(t *testing.T) {
	self, err := user.Current()
	require.NoError(t, err)
	opts := Options{AutoFork: true}
	assert.True(t, opts.isHere(Host{Name: "localhost"}))
	assert.True(t, opts.isHere(Host{Name: "localhost", User: self.Username}))
	assert.False(t, opts.isHere(Host{Name: "localhost", User: "another"}))
	assert.False(t, opts.isHere(Host{Name: "far"}))
}

func TestRefusals(t *testing.T) {
	t.Setenv("PBS_JOBID", "")
	_, err := New(Options{Launcher: "pbs"})
	assert.ErrorContains(t, err, "PBS_JOBID is not set")
	_, err = New(Options{Launcher: "persist"})
	assert.ErrorContains(t, err, `unknown launcher "persist"; known are ssh, rsh, `)
	launcher, err := New(Options{})
	require.NoError(t, err)
	_, err = launcher.Start(Host{Name: "-oProxyCommand=reboot"})
	assert.ErrorContains(t, err, "would be an option of ssh")
	launcher, err = New(Options{Exec: "/nowhere/ssh"})
	require.NoError(t, err)
	_, err = launcher.Start(Host{Name: "b"})
	assert.ErrorContains(t, err, "start proxy on b: fork/exec /nowhere/ssh: no such file or directory; choose another program by -launcher-exec, ")
}

func TestQuote(t *testing.T) {
	for _, word := range []string{"/usr/bin/mpiexec", "", "a b", "it's", "$HOME;`id`", "new\nline", "*", "~u", "\"", `\`} {
		out, err := exec.Command("sh", "-c", "printf '%s.' "+quote(word)).Output()
		require.NoError(t, err)
		assert.Equal(t, word+".", string(out))
	}
	assert.Equal(t, "/usr/bin/mpiexec", quote("/usr/bin/mpiexec"))
}

func TestGreeting(t *testing.T) {
	secret := NewSecret()
	assert.NotEqual(t, secret, NewSecret())
	var answered bytes.Buffer
	got, err := Obey(bufio.NewReader(strings.NewReader(secret.order(7, time.Second, "")+"frames")), &answered)
	require.NoError(t, err)
	assert.Equal(t, Order{secret, 7, time.Second, ""}, got)
	assert.NotContains(t, answered.String(), strings.Fields(secret.order(7, 1, ""))[1], "the answer does not tell the secret")

	line := answered.String()
	in := bufio.NewReader(strings.NewReader("welcome\n\n\xffhalf a line" + line + "frames"))
	chatter, err := secret.greet(in, 7)
	require.NoError(t, err)
	assert.Equal(t, "welcome\n\n\xffhalf a line\n", string(chatter))
	rest, _ := in.ReadString(0)
	assert.Equal(t, "frames", rest)

	for _, tt := range []struct{ input, want string }{
		{"", "EOF"},
		{"no proxy here\n", "EOF"},
		{"\x00" + strings.Repeat("x", 2*maxChatter), "prints much"},
		{strings.Replace(line, version.Version, "0.0-other", 1), "of version 0.0-other and here of " + version.Version},
		{answer + version.Version + " 00ff\n", "does not know the job's secret"},
		{answer + version.Version + " " + secret.proof(8) + "\n", "does not know the job's secret"},
	} {
		_, err := secret.greet(bufio.NewReader(strings.NewReader(tt.input)), 7)
		assert.ErrorContains(t, err, tt.want)
	}
}

func TestObeyRefuses(t *testing.T) {
	for _, input := range []string{"", "hello\n", "tpsl-job 00 1 1s login=\n", "tpsl-job " + strings.Repeat("g", 64) + " 1 1s login=\n",
		"tpsl-job " + strings.Repeat("0", 64) + " 1 0s login=\n", "tpsl-job " + strings.Repeat("0", 64) + " 1 1s\n", strings.Repeat("x", 4096)} {
		var answered bytes.Buffer
		_, err := Obey(bufio.NewReader(strings.NewReader(input)), &answered)
		assert.Error(t, err, input)
		assert.Empty(t, answered.String())
	}
}

// For any answer, a child is accepted only with the proof, and the frames after it are complete.
func FuzzGreet(f *testing.F) {
	var secret Secret
	f.Add([]byte("x"), []byte("y"))
	f.Add([]byte(answer+"a b\n"), []byte(answer))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if _, err := secret.greet(bufio.NewReader(bytes.NewReader(before)), 1); err == nil {
			t.Fatal("accepted without the proof")
		}
		good := "\n" + answer + version.Version + " " + secret.proof(1) + "\n"
		if bytes.Contains(before, []byte(answer)) {
			return
		}
		in := bufio.NewReader(bytes.NewReader(slices.Concat(before, []byte(good), after)))
		if _, err := secret.greet(in, 1); err != nil {
			t.Fatal(err)
		}
		var rest bytes.Buffer
		_, _ = rest.ReadFrom(in)
		if !bytes.Equal(rest.Bytes(), after) {
			t.Fatal("lost what follows")
		}
	})
}

func TestStderrTail(t *testing.T) {
	var w stderrTail
	_, _ = w.Write([]byte("a\n\n  b\xff\n"))
	assert.Equal(t, "a; b?", w.String())
	_, _ = w.Write(bytes.Repeat([]byte("x"), 3*maxTail))
	assert.Len(t, w.String(), maxTail)
	assert.Empty(t, (*stderrTail)(nil).String())
}

func TestIsLocal(t *testing.T) {
	own, err := os.Hostname()
	require.NoError(t, err)
	for _, name := range []string{own, strings.ToUpper(own), "localhost", "127.0.0.1", "127.9.9.9", "::1"} {
		assert.True(t, IsLocal(name), name)
	}
	for _, name := range []string{own + "x", "192.0.2.1", "", "x" + own} {
		assert.False(t, IsLocal(name), name)
	}
	assert.True(t, sameName("a.example.org", "A"))
	assert.False(t, sameName("a.example.org", "a.example.com"))
}
