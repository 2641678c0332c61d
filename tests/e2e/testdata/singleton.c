// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* With an argument it says that, and what it has in its environment; else it goes through MPI, and stays in it for long if a rank
 * is to be ended there. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int MPI_Init(int *, char ***);
int MPI_Finalize(void);

int main(int argc, char **argv)
{
    const char *preload = getenv("LD_PRELOAD");
    if (argc > 1) {
        printf("%s %s %d\n", argv[1], preload ? preload : "none", getenv("TPSL_CONTROL_FD") != NULL);
        return 0;
    }
    MPI_Init(&argc, &argv);
    if (getenv("STAY"))
        sleep(60);
    MPI_Finalize();
    puts("done");
    return 0;
}
