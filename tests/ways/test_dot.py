#!/usr/bin/env python3
"""Drawings of graphs (REPRISE_DOT), on the simulated driver: one for each trace, as graphviz reads it, and none where there should not be.

usage: test_dot.py BUILD LIBRARY
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lib import runs

BUILD, LIBRARY = (Path(word).resolve() for word in sys.argv[1:3])
MODULE = BUILD / "tests" / "programs" / "driver_kernels.so"
SIMULATION = runs.simulated(BUILD)
DRAWN_MOST = 64


def shape(name, iterations):
    return [BUILD / "tests" / "programs" / "launchbound-driver", "--module", MODULE, "--shape", name, "--iterations", str(iterations)]


def loops():
    return [BUILD / "tests" / "hazards" / "hazards", MODULE, "ten_thousand_loops"]


class Drawings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def draw(self, command, folder=None, **more):
        """Runs a program, which must print and return what it does alone. Returns the drawings."""
        report = self.folder / "report"
        ours = {"LD_PRELOAD": str(LIBRARY), "REPRISE_DOT": str(folder or self.folder), "REPRISE_REPORT": str(report), "REPRISE_PAYS": "assumed"}
        plain, drawn = (subprocess.run(command, env=SIMULATION | environment, capture_output=True, text=True, timeout=100)
                        for environment in ({}, ours | more))
        self.assertEqual((drawn.returncode, drawn.stdout), (plain.returncode, plain.stdout), drawn.stderr)
        self.said, self.report = drawn.stderr, json.loads(report.read_text())
        return sorted(self.folder.glob("reprise-*.dot"))

    def draw_built(self, name, **more):
        """The same of a shape, for as long as it takes to have graphs."""
        def run(iterations):
            for file in self.folder.glob("reprise-*.dot"):
                file.unlink()
            return self.draw(shape(name, iterations), **more)
        return runs.long_enough(run, lambda _: self.report["graphs_built"] > 0)

    def test_one_for_each_graph_with_its_nodes_in_their_order(self):
        for name in ("mixed", "eight-bodies"):
            with self.subTest(name):
                files = self.draw_built(name)
                self.assertEqual(len(files), self.report["graphs_drawn"])
                self.assertEqual(len(files), self.report["graphs_built"])
                nodes = 0
                for file in files:
                    text = file.read_text()
                    self.assertTrue(text.startswith("digraph dot {") and text.endswith("}\n}\n"))
                    edges = re.findall(r'_node_(\d+)" -> "\w+_node_(\d+)"', text)
                    count = text.count("[style=") - 1
                    self.assertEqual(edges, [(str(i), str(i + 1)) for i in range(count - 1)])
                    nodes += count
                    file.unlink()
                self.assertEqual(nodes, self.report["graph_nodes"])

    def test_graphviz_reads_them_with_the_names_of_kernels(self):
        if not shutil.which("dot"):
            self.skipTest("there is no graphviz here")
        for file in self.draw_built("mixed"):
            drawing = subprocess.run(["dot", "-Tsvg", file], capture_output=True, text=True)
            self.assertEqual((drawing.returncode, drawing.stderr), (0, ""))
            self.assertRegex(drawing.stdout, r"step|mix|turn|fold")

    def test_no_more_than_so_many(self):
        files = self.draw(loops())
        self.assertEqual(len(files), min(DRAWN_MOST, self.report["graphs_built"]))

    def test_a_folder_that_is_not_there_is_told_once(self):
        self.assertEqual(self.draw_built("eight-bodies", folder=self.folder / "missing"), [])
        self.assertEqual(self.said.count(": No such file or directory\n"), 1, self.said)
        self.assertIn("cannot write graph drawings to ", self.said)
        self.assertEqual(self.report["graphs_drawn"], 0)

    def test_a_driver_that_does_not_draw_leaves_no_file(self):
        self.assertEqual(self.draw_built("eight-bodies", SIM_FAULT="cuGraphDebugDotPrint:1=801"), [])
        self.assertEqual(self.said.count("the driver does not draw them"), 1, self.said)

    def test_none_unless_asked_for(self):
        self.assertEqual(self.draw_built("mixed", REPRISE_DOT=""), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
