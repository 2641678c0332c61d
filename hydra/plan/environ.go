// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
)

// LoginVariables are always passed on to ranks, because a login on another host would set them, too.
var LoginVariables = []string{"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}

// identity lists the variables by which an outer launcher, or we ourselves, told a rank who it is. A rank must not see the
// variables of another rank. For example, MPICH 5 refuses to start when it finds both PMI_ and PMIX_ variables.
var identity = []string{
	"PMI_*", "PMIX_*", "PRTE_LAUNCHED", "HYDI_CONTROL_FD", "HYDRA_USER_PROVIDED_BINDING",
	"MPI_LOCALNRANKS", "MPI_LOCALRANKID", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME",
	"OMPI_COMM_WORLD_*", "OMPI_UNIVERSE_SIZE", "OMPI_APP_CTX_NUM_PROCS", "OMPI_FIRST_RANKS", "OMPI_NUM_APP_CTX",
	"OMPI_FILE_LOCATION", "OMPI_COMMAND", "OMPI_ARGV", "OMPI_MCA_orte_*", "OMPI_MCA_ess*", "OMPI_MCA_pmix*",
	"TPSL_ALIKE", "TPSL_CPUS", "TPSL_ENV", "TPSL_BOARD_FD", "TPSL_CONTROL_FD", "TPSL_COUNTS", "TPSL_PROFILE", "TPSL_PYTHON", "TPSL_STDIO", "TPSL_TOOLS",
}

// userKnobs are variables that look like an identity but that users set for the PMI client library.
var userKnobs = []string{"PMI_DEBUG", "PMI_TOTALVIEW", "PMI_VERSION", "PMI_SUBVERSION"}

func isIdentity(name string) bool {
	return matches(identity, name) && !slices.Contains(userKnobs, name)
}

// matches reports whether a name matches one of the patterns. A pattern may end with a star.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		return name == pattern || isPrefix && strings.HasPrefix(name, prefix)
	})
}

// rankEnviron makes a segment's environment. Inherited variables come first, then those that are set for all segments, then those
// that are set for this one. The proxy later adds its own settings.
func rankEnviron(inherited []string, r Request, segment Segment) []string {
	var env []string
	for _, setting := range inherited {
		name, _, _ := strings.Cut(setting, "=")
		if !isIdentity(name) && segment.inherits(name) && !matches(hostVariables[r.Launch.Launcher], name) {
			env = append(env, setting)
		}
	}
	env = SetEnv(env, slices.Concat(r.Env, segment.Env)...)
	if areAlike(r) {
		env = append(env, "TPSL_ALIKE=1")
	}
	if sharesSpace(r) {
		return ForSharedSpace(env)
	}
	return env
}

// ForSharedSpace adds to env what all ranks of a job need if some of them share an address space. MPICH tries to allocate
// windows at the same address in all ranks. In one address space this cannot succeed, so the variable tells MPICH not to try. All
// ranks must have the same value, because the attempts are collective.
func ForSharedSpace(env []string) []string {
	const symmetricRetries = "MPIR_CVAR_SHM_SYMHEAP_RETRY"
	if _, set := Getenv(env, symmetricRetries); set {
		return env
	}
	return append(env, symmetricRetries+"=0")
}

// areAlike reports whether all processes of the job run one program for several ranks, with the same variables. If the ranks of one
// process are threads, those of all others are, too.
func areAlike(r Request) bool { return len(r.Segments) == 1 && sharesSpace(r) }

// sharesSpace reports whether some ranks of the job share an address space.
func sharesSpace(r Request) bool {
	return slices.ContainsFunc(r.Segments, func(s Segment) bool { return s.PerProcess > 1 || s.PerObject != "" })
}

// inherits reports whether the segment's ranks get a variable from mpiexec's environment.
func (s Segment) inherits(name string) bool {
	return s.Inherit == nil || slices.Contains(s.Inherit, name) || slices.Contains(LoginVariables, name)
}

// hostVariables are, for each launcher, the variables whose values differ from host to host. mpiexec's values would be
// wrong on other hosts, so ranks get those that their proxy has.
var hostVariables = map[string][]string{
	"":      {"DISPLAY"}, // ssh, except on this host
	"ssh":   {"DISPLAY"},
	"rsh":   {"DISPLAY"},
	"slurm": {"SLURM_*", "SLURMD_*", "SBATCH_*", "MAX_TASKS_PER_NODE"},
	"lsf":   {"DISPLAY", "LSB_*", "LSF_*", "EGO_*", "LS_EXEC_T", "HOSTTYPE", "SPOOLDIR", "TMPDIR"},
	"sge": {"DISPLAY", "SGE_*", "ARC", "ENVIRONMENT", "HOSTNAME", "JOB_ID", "JOB_NAME", "JOB_SCRIPT", "NHOSTS", "NQUEUES", "NSLOTS",
		"PE", "PE_HOSTFILE", "QUEUE", "REQUEST", "RESTARTED", "TMP", "TMPDIR"},
	"pbs": {"PBS_*", "PBSCOREDUMP", "PBSDEBUG", "PBSLOGLEVEL"},
	"ll":  {"LOADL_*", "LOADLBATCH"},
}

// hostEnv returns the patterns of variables that the segment's ranks take from their host.
func (s Segment) hostEnv(launcher string) []string {
	patterns := hostVariables[launcher]
	if s.Inherit == nil {
		return patterns
	}
	var names []string
	for _, name := range slices.Concat(s.Inherit, LoginVariables) {
		if matches(patterns, name) {
			names = append(names, name)
		}
	}
	return names
}

// withHostEnv returns the program's environment, and adds from environ the variables whose values belong to the host. A variable
// that the user has set wins over these.
func (p Program) withHostEnv(environ []string) []string {
	own := slices.DeleteFunc(slices.Clone(environ), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return !matches(p.HostEnv, name)
	})
	return SetEnv(own, p.Env...)
}

// SetEnv returns env with the NAME=VALUE settings added. The last setting of a name counts.
func SetEnv(env []string, settings ...string) []string {
	index := make(map[string]int, len(env)+len(settings))
	merged := make([]string, 0, len(env)+len(settings))
	for _, setting := range slices.Concat(env, settings) {
		name, _, _ := strings.Cut(setting, "=")
		if at, found := index[name]; found {
			merged[at] = setting
			continue
		}
		index[name] = len(merged)
		merged = append(merged, setting)
	}
	return merged
}

// Getenv returns the value of name in env.
func Getenv(env []string, name string) (string, bool) {
	for _, setting := range env {
		if n, value, _ := strings.Cut(setting, "="); n == name {
			return value, true
		}
	}
	return "", false
}
