/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * check WHAT [multiple]: what TPSL_CHECK=1 looks for, with two ranks in a process. A
 * thread stays inside an MPI call by an operation that waits for the other thread.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int argc_, level = MPI_THREAD_SINGLE;
static char **argv_;
static atomic_int inside, go;

static void raise_flag(atomic_int *flag)
{
    atomic_store(flag, 1);
}

static void await(atomic_int *flag)
{
    while (!atomic_load(flag))
        usleep(1000);
}

static void init(void)
{
    int provided;
    if (level == MPI_THREAD_SINGLE)
        MPI_Init(&argc_, &argv_);
    else
        MPI_Init_thread(&argc_, &argv_, level, &provided);
}

static void init_all(void)
{
#pragma omp parallel
    init();
}

/* Calls f from inside MPI_Reduce_local. */
static void from_inside(MPI_User_function *f)
{
    int a = 1, b = 2;
    MPI_Op op;
    MPI_Op_create(f, 1, &op);
    MPI_Reduce_local(&a, &b, 1, MPI_INT, op);
    MPI_Op_free(&op);
}

static void stay(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
    raise_flag(&inside);
    await(&go);
}

static void switch_to_1(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
    TPSL_Switch(1);
}

static void adopt_1(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
    TPSL_Adopt(1);
}

static void call_again(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n;
    int size;
    MPI_Type_size(*type, &size);
}

/* ---- (a) inside a callback ---- */
static void switch_in_operation(void)
{
    init_all();
    from_inside(switch_to_1);
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    TPSL_Switch(1);
}

static void switch_in_error_handler(void)
{
    MPI_Errhandler handler;
    init_all();
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
}

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    TPSL_Switch(1);
    return MPI_SUCCESS;
}

static void switch_in_attribute_function(void)
{
    int key;
    init_all();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
}

static void *adopts(void *unused)
{
    from_inside(adopt_1);
    return unused;
}

static void adopt_in_operation(void)
{
    pthread_t t;
    init_all();
    pthread_create(&t, NULL, adopts, NULL);
    pthread_join(t, NULL);
}

/* ---- (b) to a rank that another thread is inside of ---- */
static void switch_to_occupied(void)
{
    init_all();
#pragma omp parallel
    if (omp_get_thread_num() == 1) {
        from_inside(stay);
    } else {
        await(&inside);
        TPSL_Switch(1);
        TPSL_Switch(0);
        raise_flag(&go);
    }
}

static void switch_to_initialising(void)
{
#pragma omp parallel
    {
        int length;
        char version[MPI_MAX_LIBRARY_VERSION_STRING];
        MPI_Get_library_version(version, &length); /* claims the slot */
#pragma omp barrier
        for (int i = 0; i < 10000 && TPSL_Slot() == 0; i++) {
            TPSL_Switch(1);
            TPSL_Switch(0);
            usleep(1000);
        }
        init();
    }
}

/* ---- (c) two threads inside one rank ---- */
static void calls(void)
{
    int size;
    MPI_Type_size(MPI_INT, &size);
}

/* What any thread may call at any time. */
static void asks(void)
{
    int a, b, rc = 0;
    MPI_Info info;
    rc |= MPI_Initialized(&a) | MPI_Finalized(&a) | MPI_Query_thread(&a) | MPI_Is_thread_main(&a) | MPI_Get_version(&a, &b);
    rc |= MPI_Info_create(&info) | MPI_Info_free(&info) | (MPI_Wtime() <= 0);
    if (rc)
        printf("check: a call that is legal went wrong\n");
}

static void *while_inside(void *call)
{
    await(&inside);
    ((void (*)(void))call)();
    raise_flag(&go);
    return NULL;
}

static void beside(void (*call)(void))
{
    pthread_t helper;
    init_all();
    pthread_create(&helper, NULL, while_inside, call);
    from_inside(stay);
    pthread_join(helper, NULL);
}

static void helper_calls(void)
{
    beside(calls);
}

static void switched_thread_inside(void)
{
    init_all();
#pragma omp parallel
    if (omp_get_thread_num() == 0) {
        TPSL_Switch(1);
        from_inside(stay);
        TPSL_Switch(0);
    } else {
        while_inside(calls);
    }
}

/* ---- all right ---- */
static void helper_asks(void)
{
    beside(asks);
}

static void call_in_operation(void)
{
    init_all();
    from_inside(call_again);
    calls();
}

/* One after the other, by whatever thread. */
static void by_turns(void)
{
    pthread_t t;
    init_all();
    for (int i = 0; i < 2; i++) {
        calls();
        raise_flag(&inside);
        pthread_create(&t, NULL, while_inside, calls);
        pthread_join(t, NULL);
        TPSL_Switch(1);
        calls();
        TPSL_Switch(0);
    }
}

#define CASE(f) {#f, f}
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(switch_in_operation), CASE(switch_in_error_handler), CASE(switch_in_attribute_function), CASE(adopt_in_operation),
    CASE(switch_to_occupied), CASE(switch_to_initialising), CASE(helper_calls), CASE(switched_thread_inside),
    CASE(helper_asks), CASE(call_in_operation), CASE(by_turns),
};

int main(int argc, char **argv)
{
    argc_ = argc;
    argv_ = argv;
    if (argc == 3 && strcmp(argv[2], "multiple") == 0)
        level = MPI_THREAD_MULTIPLE;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
#pragma omp parallel
    MPI_Finalize();
    printf("check: %s done\n", argv[1]);
    return 0;
}
