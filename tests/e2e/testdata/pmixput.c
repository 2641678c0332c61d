// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* pmixput BYTES: a client of PMIx that puts so much and takes it into a fence of all. */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    pmix_proc_t self;
    pmix_info_t info;
    bool yes = true;

    if (argc < 2 || PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS)
        return 1;
    value.data.bo.size = (size_t)atol(argv[1]);
    value.data.bo.bytes = calloc(value.data.bo.size, 1);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    if (PMIx_Put(PMIX_GLOBAL, "much", &value) != PMIX_SUCCESS || PMIx_Commit() != PMIX_SUCCESS || PMIx_Fence(NULL, 0, &info, 1) != PMIX_SUCCESS)
        return 1;
    puts("done");
    return PMIx_Finalize(NULL, 0);
}
