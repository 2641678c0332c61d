#!/bin/bash
# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

# flat.sh: a process for each rank in a batch job of Slurm, with two OpenMP threads
# in each process. The program may be linked with MPICH or with tpslcc.
#
#     sbatch flat.sh ./prog

#SBATCH --job-name=flat
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=2
#SBATCH --time=00:10:00

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
mpiexec -n "$SLURM_NTASKS" -ppn "$SLURM_NTASKS_PER_NODE" "$@"
