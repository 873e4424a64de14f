#!/usr/bin/env python3
"""The page of a report in a browser without a window: nothing on its console, plots that have content, and no text where it does not fit.

usage: test_page.py BUILD      (skipped where there is no chromium)
"""
import html
import json
import re
import shutil
import struct
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
TOP = Path(__file__).resolve().parents[2]
WIDTHS = (400, 1280)
THEMES = {"light": 1, "dark": 0}    # as Blink numbers them
CONTRAST = 4.5    # at least: WCAG 2, level AA
FONT_PX = 12      # at least

# Run in a copy of the page, which is allowed to: the page itself forbids all scripts.
PROBE = """<script>
for (const details of document.querySelectorAll('details')) details.open = true;
const outside = [], overlapping = [], faint = [], small = new Set(), sizes = new Set(), wide = document.documentElement.scrollWidth - window.innerWidth;
const numbers = colour => (colour.match(/[0-9.]+/g) || []).map(Number);
const luminance = colour => {
  const [r, g, b] = numbers(colour).slice(0, 3).map(value => value / 255).map(value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const background = element => {
  for (; element; element = element.parentElement) {
    const colour = getComputedStyle(element).backgroundColor, parts = numbers(colour);
    if (parts.length == 3 || parts[3] > 0) return colour;
  }
  return 'rgb(255, 255, 255)';
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let texts = 0;
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const element = node.parentElement, style = getComputedStyle(element), range = document.createRange();
  range.selectNodeContents(node);
  const box = range.getBoundingClientRect();
  if (!node.textContent.trim() || element.closest('script, title') || box.width == 0 || element.closest('thead') && getComputedStyle(element.closest('thead')).position == 'absolute') continue;
  texts++;
  const size = parseFloat(style.fontSize), [light, dark] = [luminance(style.color), luminance(background(element))].sort((a, b) => b - a);
  sizes.add(size);
  if (size < FONT) small.add(size + ': ' + node.textContent.slice(0, 60));
  if ((light + 0.05) / (dark + 0.05) < CONTRAST) faint.push(node.textContent.slice(0, 60));
  if (box.left < -1 || box.right > window.innerWidth + 1) outside.push(node.textContent.slice(0, 60));
}
for (const box of document.querySelectorAll('h1, h2, h3, p, dd, dt, li, td, summary, .label, .value, .verdict'))
  if (box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).display != 'inline') outside.push(box.className + ' ' + box.textContent.slice(0, 60));
for (const axis of document.querySelectorAll('.heights, .places')) {
  const seen = [];
  for (const label of axis.children) {
    const box = label.getBoundingClientRect();
    for (const other of seen)
      if (box.left < other.right - 1 && other.left < box.right - 1 && box.top < other.bottom - 1 && other.top < box.bottom - 1) overlapping.push(label.textContent);
    if (box.width) seen.push(box);
  }
}
const found = {outside, overlapping, faint, small: [...small], sizes: [...sizes].sort(), wide, texts,
  plots: [...document.querySelectorAll('svg')].map(svg => [...svg.querySelectorAll('rect')].filter(rect => rect.getBoundingClientRect().height > 0).length),
  bars: document.querySelectorAll('.bar').length, flat: [...document.querySelectorAll('.bar')].filter(bar => bar.getBoundingClientRect().width < 40).length,
  dark: luminance(getComputedStyle(document.body).backgroundColor) < 0.2, headings: [...document.querySelectorAll('h2')].map(head => head.textContent)};
document.body.setAttribute('data-found', JSON.stringify(found));
</script>""".replace("FONT)", f"{FONT_PX})").replace("CONTRAST)", f"{CONTRAST})")


def look(page, width, theme, folder):
    """What the probe found, and what was said on the console."""
    copy = folder / "probe.html"
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    copy.write_text(text.replace("</body>", PROBE + "</body>"))
    outcome = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr", "--hide-scrollbars",
                              f"--blink-settings=preferredColorScheme={THEMES[theme]}", f"--user-data-dir={folder / 'profile'}", f"--window-size={width},2000", "--dump-dom", copy.as_uri()],
                             capture_output=True, text=True, timeout=100)
    found = re.search(r'data-found="([^"]*)"', outcome.stdout)
    assert found, outcome.stderr[-2000:]
    return json.loads(html.unescape(found[1])), [line for line in outcome.stderr.splitlines() if "CONSOLE" in line]


class Page(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.page = self.folder / "page.html"

    def made_of(self, *paths):
        shown = reprise("report", *paths, "--html", self.page)
        self.assertEqual(shown.returncode, 0, shown.stderr)

    def fits(self, headings, plots, widths=WIDTHS, themes=tuple(THEMES)):
        for width, theme in ((width, theme) for width in widths for theme in themes):
            with self.subTest(width=width, theme=theme):
                found, console = look(self.page, width, theme, self.folder)
                self.assertEqual({key: found[key] for key in ("outside", "overlapping", "faint", "small", "flat", "dark")} | {"console": console},
                                 {"outside": [], "overlapping": [], "faint": [], "small": [], "flat": 0, "dark": theme == "dark", "console": []})
                self.assertLessEqual(found["wide"], 0)
                self.assertGreater(found["texts"], 50)
                self.assertLessEqual(len(found["sizes"]), 4)    # text, what explains it, and two of headings
                self.assertLessEqual(set(headings), set(found["headings"]))
                self.assertGreaterEqual(len(found["plots"]), plots)
                self.assertGreater(min(found["plots"], default=1), 0)
                self.assertGreater(found["bars"], 3)

    def test_a_run(self):
        replayed(self.folder / "r.json", "mixed", REPRISE_PAYS="measured")
        self.made_of(self.folder / "r.json")
        self.fits(["What to do next", "Over time", "Sequences", "What a call costs", "What happened to each call", "Gain", "Kernels"], 2)

    def test_ranks_and_long_names(self):
        for rank in range(3):
            told, _ = replayed(self.folder / f"{rank}.json", "all-changed", RANK=str(rank))
            for row in (*told["trace_rows"], *told["kernels"]):
                row.update({key: "void nameless::kernel<float, 128, nameless::traits<W>>(W*)" * 20 for key in ("first", "last", "name") if key in row})
            told["command"] = ["/a/very/long/path/" * 20 + "program", "W" * 300]
            (self.folder / f"{rank}.json").write_text(json.dumps(told))
        self.made_of(self.folder)
        self.fits(["Processes", "Sequences"], 3)

    def test_what_observe_found(self):
        report(self.folder / "r.json", "observe", "pageable")
        self.made_of(self.folder / "r.json")
        self.fits(["What to do next", "GPU idle time, estimated", "Where sequences end"], 2)

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
            self.fits(["Over time"], 2, WIDTHS[:1], ("light",))

    def test_every_verdict(self):
        told, _ = replayed(self.folder / "r.json", "chain")
        turns = {"verdict": "replay", "gain": 1420, "low": 1230, "high": 1610, "processor": 960, "turns": 16, "tests": 1, "loops": 1, "decided_ns": 12_300_000_000, "lost_ns": 4_560_000}
        for theme, measured, changed in (("light", "1.42 x faster, measured in 16 turns, 1.23 to 1.61", {}), ("dark", "GPU-bound: nothing to gain; left eager after 12.3 s, cost 4.56 ms", {"verdict": "bound", "gain": 0}),
                                         ("light", "no gain: left eager after 12.3 s, cost 4.56 ms", {"verdict": "eager", "gain": 940, "low": 920, "high": 960}),
                                         ("dark", "too short to measure, or without a regular loop", {"verdict": "undecided", "gain": 0})):
            (self.folder / "r.json").write_text(json.dumps(told | {"measured": measured, "turns": turns | changed}))
            self.made_of(self.folder / "r.json")
            with self.subTest(measured=measured):
                self.fits(["Over time"], 2, WIDTHS[:1], (theme,))

    def test_a_comparison(self):
        for name, shape in (("a", "pageable"), ("b", "chain")):
            told, _ = replayed(self.folder / f"{name}.json", shape)
            told["command"].append("W" * 200)
            (self.folder / f"{name}.json").write_text(json.dumps(told))
        self.made_of(self.folder / "a.json", self.folder / "b.json", "--compare")
        self.fits(["Outcome", "What a call costs", "What stands in the way"], 0)

    def test_the_pictures_of_the_documentation(self):
        """They are those that the page shows, of the sizes in their names."""
        subprocess.run([TOP / "scripts" / "screenshots", COMMAND.command.parents[2], "--out", self.folder], check=True, timeout=170)
        made = {path.name: struct.unpack(">II", path.read_bytes()[16:24]) for path in self.folder.glob("*.png")}
        shown = re.findall(r"\(pictures/([^)]*)\)", (TOP / "docs" / "screenshots.md").read_text())
        self.assertEqual(sorted(made), sorted(shown))
        self.assertEqual({name: size[0] for name, size in made.items()}, {name: int(name.split("-")[1]) for name in shown})
        self.assertEqual(sorted(path.name for path in (TOP / "docs" / "pictures").iterdir()), sorted(shown))

    def test_what_the_probe_would_find(self):
        """The test can fail: a page with each fault."""
        replayed(self.folder / "r.json", "chain")
        self.made_of(self.folder / "r.json")
        text = self.page.read_text()
        for fault, key in ((".about { color: var(--eager); }", "faint"), (".about { font-size: 11px; }", "small"), (".rows { width: 200vw; }", "outside"),
                           (".places span { left: 0 !important; }", "overlapping")):
            with self.subTest(fault=fault):
                self.page.write_text(text.replace("</style>", f"{fault}</style>"))
                self.assertNotEqual(look(self.page, WIDTHS[1], "light", self.folder)[0][key], [])


if __name__ == "__main__":
    if BROWSER is None:
        print("skipped: there is no chromium")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
