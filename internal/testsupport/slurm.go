// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// slurmConf has places for: node names, their ports.
const slurmConf = `ClusterName=test
SlurmctldHost=localhost(10.77.0.1)
SlurmctldPort=6817
AuthInfo=socket=%[1]s/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool.%%n
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd.%%n.pid
SlurmctldLogFile=%[1]s/slurmctld.log
SlurmdLogFile=%[1]s/slurmd.%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SlurmdParameters=config_overrides
MessageTimeout=60
TCPTimeout=30
ReturnToService=2
NodeName=n[1-%[2]d] NodeHostname=localhost NodeAddr=10.77.0.1 Port=[7001-%[3]d] CPUs=%[4]d
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
`

// slurmScript starts the daemons. Slurm looks names up only where there is an address beside the loopback's own. Each node has
// a configuration of its own for PMIx: a job has a folder of the same name on each node, and all nodes are one machine.
const slurmScript = `ip addr add 10.77.0.1/32 dev lo
cd %[1]s
mkdir state
dd if=/dev/urandom of=key bs=1024 count=1 status=none
chmod 400 key
munged --key-file=$PWD/key --socket=$PWD/munge.socket --pid-file=$PWD/munge.pid --log-file=$PWD/munge.log --seed-file=$PWD/munge.seed --force
slurmctld
for n in {1..%[2]d}; do
	mkdir n$n n$n/pmix
	ln -s ../slurm.conf n$n
	echo PMIxCliTmpDirBase=$PWD/n$n/pmix >n$n/mpi.conf
	slurmd -N n$n -f $PWD/n$n/slurm.conf
done
for i in {1..1000}; do
	[[ $(sinfo -h -t idle -o %%D) == %[2]d ]] && break
	sleep 0.05
done
[[ $(sinfo -h -t idle -o %%D) == %[2]d ]]
`

// Slurm starts a real Slurm of the given number of nodes, n1, n2 and so on, with cpus CPUs each, on a network of its own.
// All nodes are this machine. Run programs in there by Inside:
//
//	slurm := testsupport.Slurm(t, 2, 4)
//	testsupport.Run(t, time.Minute, nil, slurm.Inside("srun", "-n", "4", "--mpi=pmi2", program)...)
func Slurm(t testing.TB, nodes, cpus int) *Namespace {
	t.Helper()
	Require(t, "slurmctld", "slurmd", "srun", "munged")
	dir, err := os.MkdirTemp("", "slurm") // t.TempDir's name is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	conf := filepath.Join(dir, "slurm.conf")
	text := fmt.Sprintf(slurmConf, dir, nodes, 7000+nodes, cpus)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return newNamespace(t, fmt.Sprintf(slurmScript, dir, nodes), "SLURM_CONF="+conf)
}
