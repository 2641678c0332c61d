// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Counts what dl_iterate_phdr and _dl_find_object get wrong about the instances. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <tpsl.h>

static int wrong;

static void check(int right, const char *what)
{
    if (right)
        return;
    printf("objects: wrong: %s\n", what);
    wrong++;
}

struct walk {
    const char *wanted; /* an address */
    int objects, holders, touched, stop_at;
    unsigned long long adds, subs;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct walk *w = data;
    check(size == sizeof *info && info->dlpi_name && info->dlpi_phdr, "an entry of the walk");
    check(w->objects == 0 || (info->dlpi_adds == w->adds && info->dlpi_subs == w->subs), "counters that change in a walk");
    w->adds = info->dlpi_adds;
    w->subs = info->dlpi_subs;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const char *start = (const char *)info->dlpi_addr + p->p_vaddr;
        w->holders += p->p_type == PT_LOAD && w->wanted >= start && w->wanted < start + p->p_memsz;
        check((p->p_type != PT_TLS) || info->dlpi_tls_modid, "an object with PT_TLS and no module");
        w->touched += p->p_type == PT_TLS && info->dlpi_tls_data && strstr(info->dlpi_name, "libucs.so") != NULL;
    }
    return ++w->objects == w->stop_at ? 77 : 0;
}

static struct walk walked(const void *wanted, int stop_at)
{
    struct walk w = {.wanted = wanted, .stop_at = stop_at};
    check(dl_iterate_phdr(visit, &w) == (stop_at ? 77 : 0), "the result of a walk");
    return w;
}

static void check_instance(int slot)
{
    char *send = TPSL_Symbol(slot, "MPI_Send");
    struct dl_find_object found;
    check(walked(send, 0).holders == 1, "the holder of MPI_Send");
    check(_dl_find_object(send, &found) == 0, "MPI_Send is found");
    check(strstr(found.dlfo_link_map->l_name, "libmpich.so") != NULL, "the name");
    check((char *)found.dlfo_map_start <= send && send < (char *)found.dlfo_map_end, "the range");
    check(found.dlfo_eh_frame > found.dlfo_map_start && found.dlfo_eh_frame < found.dlfo_map_end, "the unwind table");
}

int main(void)
{
    struct dl_find_object found;
    struct walk before = walked(main, 0);
#pragma omp parallel
    MPI_Init(NULL, NULL, omp_get_thread_num());
    struct walk after = walked(main, 0);
    check(before.holders == 1 && after.holders == 1, "the program");
    check(before.touched == 0 && after.touched == 1, "thread-local storage: of the thread's own instance");
    check(after.objects > before.objects + 5 && after.adds > before.adds + 5, "the number of objects");
    check(walked(main, after.objects).objects == after.objects, "a walk that is ended at its last object");
    check_instance(0);
    check_instance(1);
    check(TPSL_Symbol(0, "MPI_Send") != TPSL_Symbol(1, "MPI_Send"), "instances");
    check(_dl_find_object((void *)main, &found) == 0 && _dl_find_object(&found, &found) == -1, "what is no instance");
    printf("objects: %d wrong\n", wrong);
#pragma omp parallel
    MPI_Finalize();
}
