#!/bin/bash
# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

# private.sh: private mode in a batch job of Slurm. The program is an unmodified
# one that was linked with MPICH. Each node runs four ranks in one address space, and
# each rank has a copy of the program.
#
#     sbatch private.sh ./prog

#SBATCH --job-name=private
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --time=00:10:00

export OMP_NUM_THREADS=1 # threads of each rank
mpiexec -n "$SLURM_NTASKS" -ppn "$SLURM_NTASKS_PER_NODE" -rpp 4 "$@"
