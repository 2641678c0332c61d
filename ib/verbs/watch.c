// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

#include "watch.h"

#include "journal.h"

// It runs inside munmap and its like, on whatever thread and stack that was called, the Go
// runtime's own too.
static void gone(ucm_event_type_t type, ucm_event_t *event, void *journal)
{
	uint64_t start = (uintptr_t)event->vm_unmapped.address;

	(void)type;
	tpsl_journal_tell(journal, start, start + event->vm_unmapped.size);
}

// A priority below 0: before the memory goes (ucm.h).
ucs_status_t tpsl_watch(void *journal)
{
	ucs_status_t status = ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, -1, gone, journal);

	if (status == UCS_OK)
		status = ucm_test_events(UCM_EVENT_VM_UNMAPPED);
	if (status != UCS_OK)
		tpsl_unwatch(journal);
	return status;
}

void tpsl_unwatch(void *journal)
{
	ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, gone, journal);
}
