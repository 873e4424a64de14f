#!/usr/bin/env python3
"""The page of a report in a browser without a window: nothing on its console, plots that have content, and no text where it does not fit.

usage: test_page.py BUILD      (skipped where there is no chromium)
"""
import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lib import runs

COMMAND = runs.Command(Path(sys.argv[1]))
replayed, report, reprise = COMMAND.replayed, COMMAND.report, COMMAND.reprise
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SKIPPED = 77
WIDTHS = (420, 1100)

# Run in a copy of the page, which is allowed to: the page itself forbids all scripts.
PROBE = """<script>
const outside = [], overlapping = [];
for (const svg of document.querySelectorAll('svg')) {
  const view = svg.viewBox.baseVal, seen = [];
  for (const text of svg.querySelectorAll('text')) {
    const box = text.getBBox();
    if (box.x < -1 || box.y < -1 || box.x + box.width > view.width + 1 || box.y + box.height > view.height + 1) outside.push(text.textContent);
    for (const other of seen)
      if (box.x < other.x + other.width - 1 && other.x < box.x + box.width - 1 && box.y + 4 < other.y + other.height && other.y + 4 < box.y + box.height)
        overlapping.push(text.textContent);
    seen.push(box);
  }
}
for (const box of document.querySelectorAll('.card, h1, p'))
  if (box.scrollWidth > box.clientWidth + 1) outside.push(box.textContent);
const found = {outside, overlapping, wide: document.documentElement.scrollWidth - window.innerWidth,
  plots: [...document.querySelectorAll('svg')].map(svg => svg.querySelectorAll('rect').length),
  headings: [...document.querySelectorAll('h2')].map(head => head.textContent), height: document.body.scrollHeight};
document.body.setAttribute('data-found', JSON.stringify(found));
</script>"""


def look(page, width, folder):
    """What the probe found, and what was said on the console."""
    copy = folder / "probe.html"
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    copy.write_text(text.replace("</body>", PROBE + "</body>"))
    outcome = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr",
                              f"--user-data-dir={folder / 'profile'}", f"--window-size={width},2000", "--dump-dom", copy.as_uri()],
                             capture_output=True, text=True, timeout=100)
    found = re.search(r'data-found="([^"]*)"', outcome.stdout)
    assert found, outcome.stderr[-2000:]
    return json.loads(html.unescape(found[1])), [line for line in outcome.stderr.splitlines() if "CONSOLE" in line]


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.page = self.folder / "page.html"

    def made_of(self, *paths):
        shown = reprise("report", *paths, "--html", self.page)
        self.assertEqual(shown.returncode, 0, shown.stderr)

    def fits(self, headings, plots, widths=WIDTHS):
        for width in widths:
            with self.subTest(width=width):
                found, console = look(self.page, width, self.folder)
                self.assertEqual((found["outside"], found["overlapping"], console), ([], [], []))
                self.assertLessEqual(found["wide"], 0)
                self.assertLessEqual(set(headings), set(found["headings"]))
                self.assertGreaterEqual(len(found["plots"]), plots)
                self.assertGreater(min(found["plots"]), 0)

    def test_a_run(self):
        replayed(self.folder / "r.json", "mixed", REPRISE_PAYS="measured")
        self.made_of(self.folder / "r.json")
        self.fits(["Over time", "Traces", "What a launch costs", "What happened to each call", "Gain", "Kernels"], 2)

    def test_ranks_and_long_names(self):
        for rank in range(3):
            told, _ = replayed(self.folder / f"{rank}.json", "all-changed", RANK=str(rank))
            for row in (*told["trace_rows"], *told["kernels"]):
                row.update({key: "void nameless::kernel<float, 128, nameless::traits<W>>(W*)" * 20 for key in ("first", "last", "name") if key in row})
            told["command"] = ["/a/very/long/path/" * 20 + "program", "W" * 300]
            (self.folder / f"{rank}.json").write_text(json.dumps(told))
        self.made_of(self.folder)
        self.fits(["Processes", "Over time", "Traces"], 3)

    def test_what_observe_found(self):
        report(self.folder / "r.json", "observe", "pageable")
        self.made_of(self.folder / "r.json")
        self.fits(["GPU waiting, estimated", "Where sequences end"], 3)

    def test_large_and_small_figures(self):
        told, _ = replayed(self.folder / "r.json", "chain")
        for factor in (1, 7777777):
            changed = json.loads(json.dumps(told))
            changed["share"] = {"interval_ns": 10_000_000 * factor, "ops": [2 * factor, 0, factor, 5] * 16, "replayed": [factor, 0, 0, 5] * 16}
            changed["histograms"]["eager"] = [[0, 1, 1], [100 * factor, 125 * factor, 3]]
            for row in changed["trace_rows"]:
                row["eager_ns"] *= factor
            (self.folder / "r.json").write_text(json.dumps(changed))
            self.made_of(self.folder / "r.json")
            self.fits(["Over time"], 3, WIDTHS[:1])


if __name__ == "__main__":
    if BROWSER is None:
        print("skipped: there is no chromium")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
