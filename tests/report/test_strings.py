#!/usr/bin/env python3
"""The table of every string: a new or changed one is told, and stays told until somebody has reviewed it; and what counts as a string that a user reads."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lib import readable

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "document-strings"
PAGE = Path("docs/decisions/0039-every-string.md")
SOURCE = Path("src/cli/some.c")


class Table(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        for path, text in ((PAGE, "before\n<!-- strings -->\n<!-- end -->\nafter\n"), (SOURCE, 'say("the first message");')):
            (self.top / path).parent.mkdir(parents=True, exist_ok=True)
            (self.top / path).write_text(text)

    def write(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, "--top", self.top, *arguments], capture_output=True, text=True, timeout=60)

    def review(self, words="fine"):
        page = self.top / PAGE
        page.write_text(page.read_text().replace("not reviewed", words))

    def reviewed(self):
        self.write()
        self.review()
        checked = self.write("--check")
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_a_string_has_to_be_reviewed(self):
        self.write()
        checked = self.write("--check")
        self.assertEqual(checked.returncode, 1)
        self.assertIn(f"{SOURCE}: `the first message`", checked.stderr)
        self.reviewed()

    def test_a_new_string_is_told_and_the_others_keep_their_review(self):
        self.reviewed()
        (self.top / SOURCE).write_text('say("the first message"); say("a new one: %s", why);')
        checked = self.write("--check")
        self.assertEqual(checked.returncode, 1)
        self.assertIn("`a new one: …`", checked.stderr)
        self.assertNotIn("the first message", checked.stderr)
        self.write()
        self.assertIn(f"| {SOURCE} | `the first message` | fine |\n| {SOURCE} | `a new one: …` | not reviewed |\n", (self.top / PAGE).read_text())

    def test_a_changed_string_is_a_new_one(self):
        self.reviewed()
        (self.top / SOURCE).write_text('say("the first messages");')
        self.assertIn("`the first messages`", self.write("--check").stderr)
        self.write()
        self.assertNotIn("`the first message`", (self.top / PAGE).read_text())

    def test_a_string_that_is_gone_leaves_the_page_out_of_date(self):
        self.reviewed()
        (self.top / SOURCE).write_text("")
        self.assertIn("is out of date", self.write("--check").stderr)

    def test_a_string_that_moved_keeps_its_review(self):
        self.reviewed()
        (self.top / SOURCE).rename(self.top / "src/cli/other.c")
        self.write()
        self.assertIn("| src/cli/other.c | `the first message` | fine |", (self.top / PAGE).read_text())

    def test_words_of_the_design_are_told(self):
        (self.top / SOURCE).write_text('say("an op of another trace"); say("not among `ops`");')
        self.write()
        self.review()
        checked = self.write("--check")
        self.assertEqual(checked.returncode, 1)
        self.assertIn(f"{SOURCE}: `an op of another trace`: op\n", checked.stderr)
        self.assertNotIn("not among", checked.stderr)

    def test_signs_of_a_table_within_a_string(self):
        (self.top / SOURCE).write_text(r'say("one of on|off"); say("its `name` is \"x\"");')
        self.reviewed()
        self.assertIn("`one of on\\|off`", (self.top / PAGE).read_text())


class Readable(unittest.TestCase):
    def of_c(self, text):
        return list(readable.c_strings(text))

    def of_python(self, text):
        return list(readable.python_strings(text, frozenset({"stack", "titled"})))

    def test_messages_in_c(self):
        self.assertEqual(self.of_c('f("cannot write %s: "\n  "%.1f %% of %" PRIu64 " launches", x);'), ["cannot write …: … % of … launches"])
        self.assertEqual(self.of_c('X(name, "what it " \\\n "means") /* "in a comment" */ // "in another one"'), ["what it means"])
        self.assertEqual(self.of_c('x = many ? "were seen" : "was seen";'), ["were seen", "was seen"])

    def test_a_word_alone_in_c(self):
        self.assertEqual(self.of_c('printf("%s", more ? "were" : "was"); value_of("format"); strcmp(name, "observe");'), ["were", "was"])

    def test_what_is_no_message_in_c(self):
        for text in ('#include "some file here.h"', '_Static_assert(x, "two in a line");', '__asm__ volatile("mrs %0, cntvct_el0" : "=r"(x));', 'open("/proc/self/exe", 0);', 'add("{\\"a key\\": %s}");',
                     'snprintf(x, 1, "%s: %d", y, z);', "c = '\"'; d = ' ';"):
            self.assertEqual(self.of_c(text), [], text)

    def test_words_in_json(self):
        self.assertEqual(self.of_c(r'add("{\"name\": \"it ends here\", \"ph\": \"X\"}");'), ["it ends here"])

    def test_messages_in_python(self):
        self.assertEqual(self.of_python('"""What it does."""\nf"{count} call{\'s\' * many} seen"'), ["… call… seen"])
        self.assertEqual(self.of_python('f\'<p class="about two">{x} are <b>not</b> shown</p>\''), ["… are not shown"])
        self.assertEqual(self.of_python('table(("<what", "times"), rows, "stack titled")'), ["what", "times"])

    def test_what_is_no_message_in_python(self):
        for text in ('row["a key"]', 'row.get("a key")', 're.compile("a pattern of words")', 'if mode == "a mode": pass', '"onlyname"', 'f"{x:>10} {y}"'):
            self.assertEqual(self.of_python(text), [], text)


if __name__ == "__main__":
    unittest.main()
