// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package guest runs emulated machines with RDMA devices on this machine's own files.
//
// A group is one or two guests, called a and b, under QEMU without any help of the processor's: neither /dev/kvm nor root is
// needed. Each has Debian's kernel, which is fetched once into the user's cache folder, and soft-RoCE devices rxe0, rxe1 on links
// eth0, eth1, its rails. The links join the two guests; in a group of one they lead back to it. A guest's files are this
// machine's, under their own names, read-only below an overlay in the guest's memory: a program may write anywhere, and what it
// writes is gone with the guest. A file that is made here while a guest runs is seen in it; one that is changed may not be.
//
// The guests know each other by name, and ssh from any to any works without a question, so a launcher may use both.
//
// Emulation is slow and uneven: figures of guests are good as ratios only.
//
// A Group's methods may be called from any goroutine.
package guest
