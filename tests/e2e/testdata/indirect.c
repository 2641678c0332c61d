// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

void between(void);

int main(void)
{
    between();
    return 0;
}
