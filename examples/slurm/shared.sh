#!/bin/bash
# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

# shared.sh: threads as ranks in a batch job of Slurm. The program is linked with
# tpslcc. Each node runs one process, whose four threads are four ranks.
#
#     sbatch shared.sh ./prog
#
# mpiexec finds the nodes of the job by itself and starts its proxies there by one
# srun. The same job by srun alone:
#
#     srun --mpi=pmi2 tpsl run -rpp 4 ./prog

#SBATCH --job-name=shared
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --time=00:10:00

mpiexec -n "$SLURM_NTASKS" -ppn "$SLURM_NTASKS_PER_NODE" -rpp 4 "$@"
