#!/usr/bin/env python3
"""Bugs keep their place when a file is moved or formatted anew; one that has none, or two, is refused. scripts/lib/planting.py."""
import tempfile
import unittest
from pathlib import Path

from lib import planting

BUG = ("a test", "lane_take", "	if (lane->held && !try)\n		return false;\n", "	if (lane->held)\n		return false;\n")

SOURCE = """static bool other(struct lane *lane, bool try)
{
	if (lane->held && !try)
		return false;
	return true;
}

bool lane_take(struct lane *lane, bool try)
{
	if (lane->held && !try)
		return false;
	return true;
}
"""

MACRO = """#define lane_take(lane, try) \\
	if (lane->held && !try) \\
		return false; \\
	return true
"""


class Planting(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def broken(self):
        return planting.Tree(self.folder).place_of(BUG)[2]

    def test_the_definition_is_changed_and_nothing_else(self):
        self.write("src/lane/take.c", SOURCE)
        self.assertEqual(self.broken(), SOURCE[:-64] + SOURCE[-64:].replace(" && !try", ""))

    def test_the_file_may_be_moved(self):
        self.write("preload/elsewhere.h", SOURCE)
        self.assertEqual(self.broken().count("&& !try"), 1)

    def test_lines_may_be_broken_anew_and_comments_added(self):
        self.write("src/take.c", SOURCE.replace("lane->held && !try)", "lane->held /* by whom? */ &&\n	    !try)"))
        self.assertEqual(self.broken().count("!try"), 1)

    def test_in_a_macro_its_lines_go_on(self):
        self.write("src/take.c", MACRO)
        self.assertEqual(self.broken(), MACRO.replace("if (lane->held && !try) \\\n		return", "if (lane->held)\n		return"))

    def test_a_place_that_has_changed_is_refused(self):
        self.write("src/take.c", SOURCE.replace("held", "kept"))
        self.assertRaises(planting.NoPlace, self.broken)

    def test_two_places_are_refused(self):
        self.write("src/take.c", SOURCE)
        self.write("src/again.c", SOURCE)
        self.assertRaises(planting.NoPlace, self.broken)


if __name__ == "__main__":
    unittest.main()
