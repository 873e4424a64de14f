#!/usr/bin/env python3
"""Drivers that lack one of the functions that Reprise calls, each in turn: without a needed one Reprise stands aside and names it, without another it goes on,
and what is lost is what docs/design/hostile.md says.

usage: test_lacking.py BUILD LIBRARY
"""
import re
import subprocess
import sys
import unittest
from pathlib import Path

from lib import runs

BUILD, LIBRARY = (Path(word).resolve() for word in sys.argv[1:3])
TOP = Path(__file__).resolve().parents[2]
HAZARDS = (BUILD / "tests" / "hazards" / "hazards", BUILD / "tests" / "programs" / "driver_kernels.so")
FUNCTIONS = re.findall(r"\b(NEEDED|OPTIONAL)\((cu\w+)\)", (TOP / "src" / "driver" / "functions.h").read_text())
NEEDED, OPTIONAL = ([name for kind, name in FUNCTIONS if kind == wanted] for wanted in ("NEEDED", "OPTIONAL"))
PAGE = (TOP / "docs" / "design" / "hostile.md").read_text()
EVERYWHERE = (("patch_mixed", []), ("fork_values", []), ("kernel_handle", []), ("patch_mixed", ["--env=REPRISE=verify", "--no-log", "--most=differences=0"]))
NAMES_STREAMS = "cuStreamCopyAttributes"    # by it sim-check knows whose op a graph's is

# Where the loss of a function shows, and how: a program, and options of compare.py.
LOST = {
    "cuDriverGetVersion": ("patch_mixed", ["--replayed=80", "--report=driver_cuda="]),
    "cuDeviceGetName": ("patch_mixed", ["--replayed=80", "--report=gpu_name="]),
    "cuCtxGetDevice": ("alone_on_device", ["--env=REPRISE_HOLD=0", "--most=graphs_built=0"]),
    "cuCtxRecordEvent": ("patch_mixed", ["--replayed=80"]),
    "cuStreamGetGreenCtx": ("patch_mixed", ["--most=replayed=0"]),
    "cuGreenCtxStreamCreate": ("patch_mixed", ["--replayed=80"]),
    "cuStreamGetCaptureInfo_v2": ("patch_mixed", ["--replayed=80"]),
    "cuStreamGetCaptureInfo_v3": ("patch_mixed", ["--replayed=80"]),
    "cuStreamCopyAttributes": ("stream_attributes", ["--most=replayed=0"]),
    "cuStreamGetAttribute": ("stream_attributes_per_thread", ["--most=replayed=0"]),
    "cuStreamSetAttribute": ("patch_mixed", ["--replayed=80"]),
    "cuEventRecordWithFlags": ("fork_values", ["--most=lanes_merged=0", "--most=group_launches=0"]),
    "cuGraphKernelNodeGetParams_v2": ("large_params", ["--replayed=80", "--most=node_updates=0", "--counter=updates=10"]),
    "cuGraphMemcpyNodeGetParams": ("patch_mixed", ["--replayed=80", "--counter=updates=10"]),
    "cuGraphMemsetNodeGetParams": ("patch_mixed", ["--replayed=80", "--counter=updates=10"]),
    "cuGraphHostNodeGetParams": ("host_func_log", ["--env=REPRISE=verify", "--no-log", "--counter=nodes_not_verified=1"]),
    "cuGraphExecUpdate_v2": ("large_params", ["--replayed=80", "--most=updates=0"]),
    "cuGraphExecKernelNodeSetParams_v2": ("large_params", ["--replayed=80", "--most=node_updates=0", "--counter=updates=10"]),
    "cuGraphExecMemcpyNodeSetParams": ("patch_mixed", ["--replayed=80", "--counter=updates=10"]),
    "cuGraphExecMemsetNodeSetParams": ("patch_mixed", ["--replayed=80", "--counter=updates=10"]),
    "cuGraphExecHostNodeSetParams": ("host_func_log", ["--replayed=60"]),
    "cuGraphDebugDotPrint": ("patch_mixed", ["--replayed=80", "--env=REPRISE_DOT={folder}", "--stderr=the driver does not draw them=1"]),
    "cuLaunchKernelEx": ("cooperative_call", ["--replayed=5", "--most=replayed=12000"]),
    "cuFuncGetParamInfo": ("mapped_poll", ["--most=replayed=0"]),
    "cuKernelGetParamInfo": ("kernel_handle", ["--most=replayed=12000"]),
    "cuKernelGetFunction": ("launching_kernel", ["--replayed=70", "--most=replayed=9600"]),
    "cuFuncGetName": ("denied_kernel", ["--env=REPRISE_DENY=tur?", "--stderr=REPRISE_DENY has no effect on these=1"]),
    "cuKernelGetName": ("kernel_handle", ["--env=REPRISE_DENY=tur?", "--stderr=REPRISE_DENY has no effect on these=1"]),
    "cuFuncGetModule": ("launching_kernel", ["--most=replayed=0"]),
    "cuModuleGetGlobal_v2": ("launching_kernel", ["--most=replayed=0"]),
    "cuKernelGetLibrary": ("launching_kernel", ["--replayed=70", "--most=replayed=9600"]),
    "cuLibraryGetGlobal": ("launching_kernel", ["--replayed=70", "--most=replayed=9600"]),
}


def without(name):
    return f"SIM_LACKS={name}"


def compare(program, *options):
    """Plain on the whole driver, and under Reprise on those that lack something."""
    return runs.run([sys.executable, Path(__file__).with_name("compare.py"), "--build", BUILD, "--library", LIBRARY, "--schedules", "eager", *options, "--", *HAZARDS, program], timeout=200)


def runs_plain(name, program):
    """Whether the program itself can do without the function."""
    return runs.run([*HAZARDS, program], environment=runs.simulated(BUILD) | {"SIM_LACKS": name}).status == 0


class Lacking(unittest.TestCase):
    def judge(self, outcome):
        self.assertEqual(outcome.status, 0, outcome.stdout + outcome.stderr)

    def test_every_function_is_here_and_on_the_page(self):
        self.assertEqual(sorted(LOST), sorted(OPTIONAL))
        listed = [name for line in PAGE.splitlines() if line.startswith("| `cu") for name in re.findall(r"`(cu\w+)`", line.split("|")[1])]
        self.assertEqual(sorted(listed), sorted(OPTIONAL))

    def test_without_a_needed_one_nothing_is_replayed_and_it_is_named(self):
        able = [name for name in NEEDED if runs_plain(name, "mapped_poll")]
        self.assertGreater(len(able), len(NEEDED) - 8)
        self.judge(compare("mapped_poll", "--each", without(",".join(able)), "--no-report", "--stderr=: nothing will be replayed=1"))
        for name in able[0], able[-1]:
            self.judge(compare("mapped_poll", "--each", without(name), "--no-report", f"--stderr=the driver has no {name}: nothing will be replayed=1"))

    def test_without_any_other_one_results_are_the_same(self):
        for program, options in EVERYWHERE:
            able = [name for name in OPTIONAL if name != NAMES_STREAMS and runs_plain(name, program)]
            with self.subTest(program=program, options=options):
                self.judge(compare(program, "--each", without(",".join(able)), *options))
                self.judge(compare(program, "--each", without(NAMES_STREAMS), "--no-log", *options))

    def test_what_is_lost_without_it(self):
        for name, (program, options) in LOST.items():
            with self.subTest(program=program, lacks=name):
                self.judge(compare(program, "--each", without(name), *options))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
