// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package search finds libraries the way ld.so does.
//
// A wanted name is what DT_NEEDED or dlopen states; an object is the file that it
// leads to; a closure is an object with all that it needs, directly or not, each
// once, in the breadth-first order in which ld.so searches their symbols. The
// rules are those of ld.so(8) and of glibc 2.36 (elf/dl-load.c): names with a
// slash, DT_RPATH, LD_LIBRARY_PATH, DT_RUNPATH, /etc/ld.so.cache, the default
// directories, each with its glibc-hwcaps subdirectories.
//
// What ld.so does and this package does not: legacy hwcaps subdirectories (tls,
// haswell), caches of the format before glibc 2.2, LD_PRELOAD, set-user-ID
// programs, DT_FILTER and DT_AUXILIARY.
//
// What is not safe. The answer is that of the file system at one moment; a
// library may be replaced before it is mapped, compare its image.FileID.
//
// A Path may be used by any goroutines at once; a Closure too, save Close.
package search
