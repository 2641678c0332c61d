#!/bin/busybox sh
# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

# A guest's first program: makes the host's files the guest's own, below an overlay in memory, and goes on there.
set -e
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc none /proc
mount -t devtmpfs none /dev
for module in /modules/*; do
	insmod "$module" numdummies=0 # a parameter of dummy, which else makes a link; others do not know it and do not mind
done
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose host /host
mount -t tmpfs none /memory
mkdir /memory/files /memory/work
mount -t overlay -o lowerdir=/host,upperdir=/memory/files,workdir=/memory/work none /root
# The host's own init must not run, and a shell as first program would leave zombies.
echo "::once:/bin/sh $SHARE/agent" >/root/etc/inittab
cp /bin/busybox /root/run/busybox
umount /proc
mount --move /dev /root/dev
exec switch_root /root /run/busybox init
