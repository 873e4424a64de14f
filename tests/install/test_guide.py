#!/usr/bin/env python3
"""The form of the pages that scripts/guide writes: that what is wrong with one is found, and how output is shown."""
import unittest

from lib import guide_pages

PAGE = """# A page

<!-- machine -->
from somewhere
<!-- end -->

<!-- run, 9 lines:
reprise doctor {program}
-->
```
$ reprise doctor ./app
a line
```
"""


def ways(command):
    return command.replace("{program}", "./app")


class Form(unittest.TestCase):
    def problems(self, *changes):
        text = PAGE
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return list(guide_pages.misformed(text, (str, ways)))

    def test_a_page_as_it_should_be(self):
        self.assertEqual(self.problems(), [])

    def test_a_page_that_runs_nothing(self):
        self.assertEqual(list(guide_pages.misformed("# Nothing\n\n```\nreprise run -- ./app\n```\n", (ways,))), [])

    def test_a_block_of_another_form(self):
        for change in (("-->\n```", "-->\n\n```"), (" 9 lines", " nine lines"), ("<!-- run", "<!-- run quietly")):
            self.assertIn("a block that is to be run is not well formed", self.problems(change))

    def test_output_that_nobody_writes(self):
        self.assertEqual(self.problems(("# A page\n", "# A page\n\n```\n$ reprise doctor\nfine\n```\n")), ["this is not written by scripts/guide: $ reprise doctor"])

    def test_a_command_that_was_changed_since(self):
        self.assertEqual(self.problems(("doctor {program}\n", "doctor\n")), ["it does not show the commands that it has: reprise doctor"])

    def test_a_page_that_does_not_say_where_its_output_comes_from(self):
        self.assertEqual(self.problems(("<!-- machine -->", "")), ["it does not say once where its output comes from"])

    def test_options_that_are_none(self):
        page = "`reprise run --hold 0 --fast -- ./app --slow` or\nreprise observe -- ./app --fast\nreprise report r.json --htm x"
        self.assertEqual(list(guide_pages.unknown_options(page, {"--hold", "--html"})), ["--fast is no option of reprise", "--htm is no option of reprise"])

    def test_output_that_is_up_to_date(self):
        def told(text):
            return PAGE.replace("a line", text)

        def outdated(shown, printed, known=""):
            return list(guide_pages.outdated(told(shown), told(printed), known))

        self.assertEqual(outdated("took 5 us for 7 % in heat_step", "took 1.2 ms for 9 % in heat_fold"), [])
        self.assertEqual(outdated("took 5 us by cudaFree", "lasted 1.2 ms by cudaFree"), ["it shows what is not said any more: took"])
        self.assertEqual(outdated("took 5 us", "lasted 5 us", 'printf("took %d us")'), [])
        self.assertEqual(outdated("A table", "A new table", "A table"), ["it does not show what is said now: A new table"])
        self.assertEqual(outdated("  REPRISE_A 1", "  REPRISE_A 2\n  REPRISE_B 1"), ["it does not show REPRISE_B"])

    def test_output_of_other_commands_is_not_judged(self):
        page = PAGE.replace("reprise doctor {program}", "cat file").replace("reprise doctor ./app", "cat file")
        self.assertEqual(list(guide_pages.outdated(page, page.replace("a line", "another"), "")), [])


class Shown(unittest.TestCase):
    def test_no_more_lines_than_asked_for(self):
        self.assertEqual(guide_pages.shown("seq 5", "1\n2\n3\n4\n5\n", 5), "$ seq 5\n1\n2\n3\n4\n5\n")
        self.assertEqual(guide_pages.shown("seq 5", "1\n2\n3\n4\n5\n", 3), "$ seq 5\n1\n2\n[3 more lines]\n")

    def test_long_lines_are_cut(self):
        self.assertEqual(max(map(len, guide_pages.shown("x", "y" * 500, 9).splitlines())), guide_pages.WIDTH_MOST)

    def test_a_command_that_prints_nothing(self):
        self.assertEqual(guide_pages.shown("true", "", 9), "$ true\n")

    def test_a_line_written_over_and_over(self):
        self.assertEqual(guide_pages.shown("x", "\r10 %\x1b[K\r\r90 %\x1b[K\r\r\x1b[Kdone\n", 9), "$ x\n90 %\ndone\n")

    def test_nothing_of_one_machine_alone(self):
        text = 'process 70 and process 9 on box, /tmp/x/app of /build/lib, {"pid":9,"tid":11}, g/reprise-70-0001.dot, mailbox'
        self.assertEqual(guide_pages.neutral(text, (("/tmp/x/", ""), ("/build", "build"), ("box", "host"))),
                         'process 4711 and process 4712 on host, app of build/lib, {"pid":4712,"tid":4713}, g/reprise-4711-0001.dot, mailbox')


if __name__ == "__main__":
    unittest.main()
