// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TPSL_VERBS_WATCH_H
#define TPSL_VERBS_WATCH_H

#include <ucm/api/ucm.h>

// tpsl_watch has a struct tpsl_journal told of all memory that goes; tpsl_unwatch ends that.
ucs_status_t tpsl_watch(void *journal);
void tpsl_unwatch(void *journal);

#endif
