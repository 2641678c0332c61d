# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

# Sets up a guest and runs what the host asks for. Of the kernel's parameters, GUEST is its name, NUMBER its place from 1,
# RAILS the count of its RDMA devices, SHARE the folder that it shares with the host.
set -e
trap 'poweroff -f' EXIT
ulimit -l unlimited
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /dev/shm /dev/pts
mount -t tmpfs none /dev/shm
mount -t devpts none /dev/pts
mount -t tmpfs none /run
ln -sf /proc/self/fd /dev/fd
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none share "$SHARE"

hostname "$GUEST"
cp "$SHARE/hosts" /etc/hosts
cp "$SHARE/ssh_config" /etc/ssh/ssh_config
(: >/root/.bashrc) 2>/dev/null || mount -t tmpfs none /root # QEMU's user may not see root's folder
ip link set lo up
echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad # its address is a GID, wanted at once
echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore # all links are on one wire: each answers for itself only
rail=0
while [ $rail -lt "$RAILS" ]; do
	[ -e /sys/class/net/eth$rail ] || ip link add eth$rail type dummy
	ip link set eth$rail mtu 4500 up
	ip addr add 10.$((78 + rail)).0."$NUMBER"/24 dev eth$rail
	rdma link add rxe$rail type rxe netdev eth$rail
	rail=$((rail + 1))
done
mkdir /run/sshd
/usr/sbin/sshd -f "$SHARE/sshd_config"

exec 3<>/dev/ttyS1
stty -F /dev/ttyS1 raw -echo

# A command's processes are those of its control group, so that none of them is missed.
run() {
	group=/sys/fs/cgroup/run$1
	mkdir "$group"
	code=0
	(
		echo 0 >"$group/cgroup.procs"
		exec sh "$SHARE/$1/script" >"$SHARE/$1/stdout" 2>"$SHARE/$1/stderr" 3>&-
	) || code=$?
	echo 1 >"$group/cgroup.kill"
	until rmdir "$group" 2>/dev/null; do sleep 0.01; done
	echo "end $1 $code" >&3
}

echo up >&3
while read -r word id <&3; do
	case $word in
	run) run "$id" & ;;
	kill) echo 1 >/sys/fs/cgroup/run"$id"/cgroup.kill 2>/dev/null || true ;; # it may have ended
	esac
done
