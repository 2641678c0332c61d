/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */
#error "glibc 2.34 has no <sys/rseq.h>"
