// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A Host is a machine among others, with Debian's sshd.
type Host struct {
	*Namespace
	Name, Address string
}

// Hosts starts machines of these names on a network of their own. Each has its own host name, processes, mounts and
// /dev/shm, and a real sshd; files are this machine's, but for the user's .bashrc. ssh from any to any works without a question:
//
//	hosts := testsupport.Hosts(t, "a", "b")
//	testsupport.Run(t, time.Minute, nil, hosts[0].Inside("ssh", "b", "hostname")...)
//
// Link eth0 joins them. What is done to a host's processes and links in a test is done to a host.
func Hosts(t testing.TB, names ...string) []Host {
	t.Helper()
	Require(t, "ssh", "sshd", "ssh-keygen")
	dir := t.TempDir()
	if err := WriteHostFiles(dir, names); err != nil {
		t.Fatal(err)
	}
	hub := newNamespace(t, "ip link add hub type bridge\nip link set hub up")
	var hosts []Host
	for i, name := range names {
		h := Host{Name: name, Address: hostAddress(i)}
		h.Namespace = newNamespace(t, fmt.Sprintf(hostScript, dir, name, h.Address, i))
		plug := fmt.Sprintf("nsenter -t %d -n ip link set h%d netns %d && nsenter -t %[3]d -n ip link set h%[2]d master hub up", h.PID, i, hub.PID)
		if _, errOut, code := Run(t, namespaceLimit, nil, "sh", "-c", plug); code != 0 {
			t.Fatalf("link host %s: %s", name, errOut)
		}
		hosts = append(hosts, h)
	}
	return hosts
}

func hostAddress(i int) string { return fmt.Sprintf("10.78.0.%d", i+1) }

// hostScript has places for: folder, name, address, index.
const hostScript = `hostname %[2]s
cd %[1]s
mount --bind hosts /etc/hosts
mount --bind ssh_config /etc/ssh/ssh_config
mount -t tmpfs none /run
mkdir /run/sshd
profile=$(getent passwd $(id -u) | cut -d: -f6)/.bashrc # it may do anything, and be killed while it does
[ ! -e "$profile" ] || mount --bind /dev/null "$profile"
mount -t tmpfs none /sys/fs/cgroup # one host must not reach another's processes by a control group
ip link add eth0 type veth peer name h%[4]d
ip addr add %[3]s/24 dev eth0
ip link set eth0 up
$(command -v sshd) -f $PWD/sshd_config # it starts itself again, by its path
until grep -q ' 00000000:0016 00000000:0000 0A ' /proc/net/tcp; do sleep 0.01; done # a daemon before it listens, see proc(5)
`

// WriteHostFiles writes into a folder what all hosts share: tables of names, and files of ssh and sshd with one key for all.
func WriteHostFiles(dir string, names []string) error {
	table := "127.0.0.1 localhost\n"
	for i, name := range names {
		table += hostAddress(i) + " " + name + "\n"
	}
	key := filepath.Join(dir, "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		return fmt.Errorf("make a key for ssh: %w\n%s", err, out)
	}
	for name, text := range map[string]string{
		"hosts": table,
		"ssh_config": "Host *\nIdentityFile " + key + "\nIdentitiesOnly yes\nUserKnownHostsFile /dev/null\n" +
			"StrictHostKeyChecking no\nLogLevel ERROR\nKexAlgorithms curve25519-sha256\n",
		"sshd_config": "HostKey " + key + "\nAuthorizedKeysFile " + key + ".pub\nStrictModes no\nUsePAM no\n" +
			"PasswordAuthentication no\nPidFile none\nMaxStartups 100\nPermitRootLogin yes\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
