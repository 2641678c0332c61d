// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// memory is that of a guest, in MiB.
const memory = 512

type machineOptions struct {
	kernel, dir   string
	number, rails int
	cpus, nodes   int
	wire          *os.File // the guest's end; none: links that lead back
}

func (o machineOptions) name() string    { return names[o.number] }
func (o machineOptions) console() string { return filepath.Join(o.dir, o.name()+".console") }

// command is QEMU's command line. The first of the files that it inherits is the channel, then comes the wire.
func (o machineOptions) command() []string {
	const firstFile = 3
	// The kernel gives up when timers come late, which they do where the host has much else to do.
	parameters := fmt.Sprintf("console=ttyS0 quiet panic=-1 mitigations=off no_timer_check GUEST=%s NUMBER=%d RAILS=%d SHARE=%s", o.name(), o.number+1, o.rails, o.dir)
	// With room for a second CPU QEMU emulates memory barriers. Before 8.1 it leaves them out for a machine of one, and its devices, which are
	// threads too, then miss now and then that there is something to send: for a while, or for good.
	cpus := fmt.Sprintf("%d,maxcpus=%d", o.cpus, max(o.cpus, 2))
	argv := []string{
		"qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-name", "debug-threads=on",
		"-M", "q35", "-accel", "tcg,thread=multi,tb-size=256", "-cpu", "max", "-smp", cpus, "-m", strconv.Itoa(memory),
		"-kernel", o.kernel, "-initrd", filepath.Join(o.dir, "initramfs"), "-append", parameters,
		"-chardev", "file,id=console,path=" + o.console(), "-serial", "chardev:console",
		"-chardev", fmt.Sprintf("socket,id=channel,fd=%d", firstFile), "-serial", "chardev:channel",
		"-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
		"-virtfs", "local,path=" + o.dir + ",mount_tag=share,security_model=none",
	}
	for node := range o.nodes {
		argv = append(argv,
			"-object", fmt.Sprintf("memory-backend-ram,id=memory%d,size=%dM", node, memory/o.nodes),
			"-numa", fmt.Sprintf("node,nodeid=%d,cpus=%d,memdev=memory%d", node, node, node))
	}
	if o.wire == nil {
		return argv
	}
	argv = append(argv, "-netdev", fmt.Sprintf("dgram,id=wire,local.type=fd,local.str=%d", firstFile+1), "-netdev", "hubport,id=out,hubid=0,netdev=wire")
	for rail := range o.rails {
		argv = append(argv,
			"-netdev", fmt.Sprintf("hubport,id=rail%d,hubid=0", rail),
			"-device", fmt.Sprintf("virtio-net-pci,netdev=rail%d,host_mtu=9000,mac=52:54:00:78:%02x:%02x", rail, rail, o.number+1))
	}
	return argv
}

// A machine is a guest and the process that emulates it.
type machine struct {
	machineOptions
	cmd     *exec.Cmd
	said    bytes.Buffer  // by QEMU; to be read when it is gone
	channel *os.File      // to the guest's agent
	up      chan struct{} // closed when the agent takes commands
	gone    chan struct{} // closed when the process has ended

	mu   sync.Mutex
	ends map[int64]chan int // of commands that run
}

func startMachine(o machineOptions) (*machine, error) {
	channel, err := socketPair(unix.SOCK_STREAM)
	if err != nil {
		return nil, err
	}
	defer channel[1].Close()
	argv := o.command()
	m := &machine{machineOptions: o, channel: channel[0], up: make(chan struct{}), gone: make(chan struct{}), ends: map[int64]chan int{}}
	m.cmd = exec.Command(argv[0], argv[1:]...)
	m.cmd.Stderr = &m.said
	m.cmd.ExtraFiles = []*os.File{channel[1]}
	if o.wire != nil {
		m.cmd.ExtraFiles = append(m.cmd.ExtraFiles, o.wire)
	}
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // whose death is what Pdeathsig means: prctl(2)
		defer runtime.UnlockOSThread()
		err := m.cmd.Start()
		started <- err
		if err == nil {
			_ = m.cmd.Wait()
			close(m.gone)
		}
	}()
	if err := <-started; err != nil {
		m.channel.Close()
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
			err = fmt.Errorf("%w: install Debian's package qemu-system-x86", err)
		}
		return nil, err
	}
	go m.listen()
	return m, nil
}

func (m *machine) kill() { _ = m.cmd.Process.Kill() }

// await waits until the guest takes commands.
func (m *machine) await(ctx context.Context) error {
	select {
	case <-m.up:
		return nil
	case <-m.gone:
		return m.death()
	case <-ctx.Done():
		return fmt.Errorf("guest %s: %w; %s", m.name(), context.Cause(ctx), m.lastWords())
	}
}

// death says how a guest ended that is gone.
func (m *machine) death() error {
	said := ""
	if m.said.Len() > 0 {
		said = "; QEMU says: " + strings.TrimSpace(m.said.String())
	}
	return fmt.Errorf("guest %s is gone (qemu: %v)%s; %s", m.name(), m.cmd.ProcessState, said, m.lastWords())
}

// lastWords returns the end of the guest's console; after a panic, the line that says why.
func (m *machine) lastWords() string {
	const most = 1500
	text, err := os.ReadFile(m.console())
	text = bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r"), nil))
	if err != nil || len(text) == 0 {
		return "its console is empty"
	}
	if panics := bytes.Index(text, []byte("Kernel panic")); panics >= 0 {
		line, _, _ := bytes.Cut(text[panics:], []byte("\n"))
		return "its console: " + string(line)
	}
	return "the end of its console:\n" + string(text[max(0, len(text)-most):])
}
