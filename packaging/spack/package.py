# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

# A recipe for Spack 1.0 or newer. It belongs into packages/tpsl/ of a repository of the site: docs/install.md.

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Tpsl(MakefilePackage):
    """Threads as MPI ranks: every thread that calls MPI_Init becomes a rank of its own, with
    a private instance of an unmodified MPI library. Unmodified programs run several ranks
    in one address space."""

    homepage = "https://github.com/tpsl/tpsl"
    git = "https://github.com/tpsl/tpsl.git"

    license("Apache-2.0")

    version("main", branch="main")

    variant("pmix", default=False, description="mpiexec starts programs of Open MPI")

    depends_on("c", type="build")
    depends_on("go@1.26:", type="build")
    depends_on("gmake", type="build")
    # The installation has the names and folders of an MPI library with MPICH's ABI. It is not linked with one.
    depends_on("mpich@4:", type=("build", "run"))
    with when("+pmix"):
        depends_on("pkgconfig", type="build")
        depends_on("pmix@4:")

    requires("platform=linux")
    requires("target=x86_64:")

    @property
    def install_targets(self):
        return ["install", f"PREFIX={self.prefix}"]

    def name_mpi(self, env):
        mpich = self.spec["mpich"]
        env.set("TPSL_MPI_INCLUDE", mpich.prefix.include)
        env.set("TPSL_MPI_LIBRARY", join_path(mpich.prefix.lib, "libmpi.so.12"))

    def setup_build_environment(self, env):
        self.name_mpi(env)
        # Go's modules and cache are with what is built, and go with it.
        env.set("GOPATH", join_path(self.stage.path, "go"))
        env.set("GOCACHE", join_path(self.stage.path, "go-build"))
        env.append_flags("GOFLAGS", "-modcacherw")

    def setup_run_environment(self, env):
        self.name_mpi(env)
        env.set("MPICC", self.prefix.bin.tpslcc)
        env.set("MPICXX", self.prefix.bin.tpslcxx)
        env.set("MPIFC", self.prefix.bin.tpslfort)
        env.set("MPIF77", self.prefix.bin.tpslfort)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.tpsl)("doctor")
