# A recipe for Spack 1.0 or newer. Reprise has no place yet that Spack could fetch it from, so it is built from a checkout:
#
#     spack repo create my-repo mine && spack repo add my-repo/spack_repo/mine
#     mkdir my-repo/spack_repo/mine/packages/reprise && cp share/spack/package.py my-repo/spack_repo/mine/packages/reprise/
#     spack dev-build reprise@0.1.0        # in the checkout
from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Reprise(MesonPackage):
    """Runs the repeated stream work of unmodified CUDA programs from CUDA graphs: reprise run -- PROGRAM, or LD_PRELOAD."""

    license("MIT")

    version("0.1.0")

    variant("cupti", default=True, description="Measure kernels with CUPTI, for observe and for timelines")

    depends_on("c", type="build")
    depends_on("meson@1.0:", type="build")
    # Only headers: what runs finds the driver of its machine.
    depends_on("cuda@13:", type="build")
    # What shows reports; the names of C++ in them.
    depends_on("python@3.8:", type=("build", "run"))
    depends_on("binutils", type="run")

    requires("platform=linux")
    requires("target=x86_64:", "target=aarch64:", policy="any_of")

    def meson_args(self):
        return [
            f"-Dcuda={self.spec['cuda'].prefix}",
            f"-Dcupti={'enabled' if self.spec.satisfies('+cupti') else 'disabled'}",
            "-Dprograms=disabled",
            "-Dtests=disabled",
            # As it is tested and measured.
            "-Doptimization=2",
        ]

    def setup_run_environment(self, env):
        env.set("REPRISE_LIBRARY", join_path(self.prefix.lib, "libreprise.so"))
