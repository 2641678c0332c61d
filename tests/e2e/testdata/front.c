/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * front: a library in front of another one (hostile.c).
 */
int hostile_count(void)
{
    return 1000;
}
