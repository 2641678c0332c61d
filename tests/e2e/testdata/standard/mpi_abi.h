/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What tests need of the standard ABI's header (MPI 5.0, chapter 20 and appendix A): handles are pointers to incomplete
 * structures, and predefined ones are small numbers.
 */
#ifndef MPI_H_ABI
#define MPI_H_ABI

#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_Session *MPI_Session;

#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_INFO_NULL ((MPI_Info)0x130)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x142)
#define MPI_MAX_LIBRARY_VERSION_STRING 8192

enum { MPI_SUCCESS = 0, MPI_THREAD_SINGLE = 0, MPI_THREAD_MULTIPLE = 4096 };

int MPI_Init(int *, char ***);
int MPI_Init_thread(int *, char ***, int, int *);
int MPI_Finalize(void);
int MPI_Query_thread(int *);
int MPI_Get_version(int *, int *);
int MPI_Abi_get_version(int *, int *);
int MPI_Comm_size(MPI_Comm, int *);
int MPI_Comm_rank(MPI_Comm, int *);
int MPI_Barrier(MPI_Comm);
int MPI_Session_init(MPI_Info, MPI_Errhandler, MPI_Session *);
int MPI_Session_finalize(MPI_Session *);
int MPI_Alloc_mem(long, MPI_Info, void *);
int MPI_Free_mem(void *);
int MPI_Buffer_flush(void);

#endif
