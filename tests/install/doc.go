// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package install tests what make install puts in place, as its users meet it:
// a tree that can be moved and removed, manual pages, completion, the module
// file, CMake's packages, the Debian package and the release's tarball.
package install
