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
REAL = sorted((Path(__file__).resolve().parent / "real").glob("*.json"))    # of an H200
WIDTHS = (1280, 400, 320)
THEMES = {"light": 1, "dark": 0}    # as Blink numbers them
CONTRAST = 4.5    # at least: WCAG 2, level AA
FONT_PX = 12      # at least
SIZES_MOST = 4    # of text: text, what explains it, and two of headings

# Run in a copy of the page, which is allowed to: the page itself forbids all scripts.
PROBE = """<script>
for (const details of document.querySelectorAll('details')) details.open = true;
const outside = [], overlapping = [], faint = [], small = new Set(), sizes = new Set(), wide = document.documentElement.scrollWidth - window.innerWidth;
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const known = {}, parsed = colour => {    // red, green, blue and alpha from 0 to 1, of whatever form of colour
  if (!(colour in known)) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    known[colour] = [...canvas.getImageData(0, 0, 1, 1).data].map(value => value / 255);
  }
  return known[colour];
};
const over = (front, back, alpha) => back.map((value, i) => front[i] * alpha + value * (1 - alpha));
const luminance = colour => {
  const [r, g, b] = colour.map(value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const background = element => {    // the colours behind it, the nearest on top
  const layers = [];
  for (; element; element = element.parentElement) layers.push(parsed(getComputedStyle(element).backgroundColor));
  return layers.reverse().reduce((back, layer) => over(layer, back, layer[3]), [1, 1, 1]);
};
const opacity = element => element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1;
// Of an element's text, or of what the style adds to it. `scale`: of a drawing.
const judge = (words, style, colour, back, alpha, scale) => {
  const size = parseFloat(style.fontSize) * scale, [r, g, b, a] = parsed(colour);
  const [light, dark] = [luminance(over([r, g, b], back, a * alpha)), luminance(back)].sort((a, b) => b - a);
  sizes.add(size);
  if (!(size >= FONT)) small.add(size + ': ' + words);
  if (!((light + 0.05) / (dark + 0.05) >= CONTRAST)) faint.push(words);
};
const hidden = element => element.closest('thead') && getComputedStyle(element.closest('thead')).position == 'absolute' || element.getBoundingClientRect().width == 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let texts = 0;
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const element = node.parentElement, style = getComputedStyle(element), range = document.createRange(), words = node.textContent.slice(0, 60);
  range.selectNodeContents(node);
  const box = range.getBoundingClientRect();
  if (!node.textContent.trim() || element.closest('script, title') || box.width == 0 || hidden(element)) continue;
  texts++;
  if (element.closest('svg')) {
    const drawn = element.getScreenCTM(), scale = Math.min(Math.hypot(drawn.a, drawn.b), Math.hypot(drawn.c, drawn.d));
    judge(words, style, style.fill, background(element), opacity(element) * Number(style.fillOpacity), scale);
  } else {
    judge(words, style, style.color, background(element), opacity(element), 1);
  }
  if (box.left < -1 || box.right > window.innerWidth + 1) outside.push(words);
}
for (const element of document.body.querySelectorAll('*')) {
  for (const part of ['::before', '::after', '::marker']) {
    const style = getComputedStyle(element, part), marked = part == '::marker' && getComputedStyle(element).display == 'list-item' && getComputedStyle(element).listStyleType != 'none';
    if (part == '::marker' ? !marked : ['none', 'normal', '""'].includes(style.content) || style.display == 'none') continue;
    if (hidden(element)) continue;
    const own = parsed(style.backgroundColor);
    judge(part + ' ' + style.content + ' of ' + element.tagName + ' ' + element.textContent.slice(0, 40), style, style.color, over(own, background(element), own[3]), opacity(element) * Number(style.opacity || 1), 1);
  }
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
const found = {outside, overlapping, faint, small: [...small], sizes: [...sizes].sort(), wide, texts, inner: window.innerWidth,
  plots: [...document.querySelectorAll('svg')].map(svg => [...svg.querySelectorAll('rect')].filter(rect => rect.getBoundingClientRect().height > 0).length),
  bars: document.querySelectorAll('.bar').length, flat: [...document.querySelectorAll('.bar')].filter(bar => bar.getBoundingClientRect().width < 40).length,
  dark: luminance(background(document.body)) < 0.2, headings: [...document.querySelectorAll('h2')].map(head => head.textContent)};
document.body.setAttribute('data-found', JSON.stringify(found));
</script>""".replace(">= FONT", f">= {FONT_PX}").replace(">= CONTRAST", f">= {CONTRAST}")

# Around the copies: a browser's window is never narrower than about 500 pixels, a frame in it is.
FRAMES = """<!doctype html><meta name="color-scheme" content="light dark"><body style="margin: 0">{frames}<script>
addEventListener('load', () => document.body.setAttribute('data-all', JSON.stringify([...document.querySelectorAll('iframe')].map(frame => JSON.parse(frame.contentDocument.body.getAttribute('data-found'))))));
</script></body>"""


def look(pages, theme, folder):
    """What the probe found in each of (text of a page, width), all looked at in one start of the browser; and what was said on the console."""
    framed, frames = folder / "framed.html", []
    for text, width in pages:
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text).replace("</body>", PROBE + "</body>")
        frames.append(f'<iframe style="width: {width}px; height: 2000px; border: 0; display: block" srcdoc="{html.escape(text)}"></iframe>')
    framed.write_text(FRAMES.replace("{frames}", "".join(frames)))
    outcome = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr", "--hide-scrollbars",
                              f"--blink-settings=preferredColorScheme={THEMES[theme]}", f"--user-data-dir={folder / 'profile'}", f"--window-size={max(width for _, width in pages)},2000", "--dump-dom", framed.as_uri()],
                             capture_output=True, text=True, timeout=100)
    found = re.search(r'data-all="([^"]*)"', outcome.stdout)
    assert found, outcome.stderr[-2000:]
    return json.loads(html.unescape(found[1])), [line for line in outcome.stderr.splitlines() if "CONSOLE" in line]


def wrong(found, width, theme):
    """What no page may have, by the names of the checks."""
    listed = {key: found[key] for key in ("outside", "overlapping", "faint", "small", "flat") if found[key]}
    listed |= {"wide": found["wide"]} if found["wide"] > 0 else {}
    listed |= {"sizes": found["sizes"]} if len(found["sizes"]) > SIZES_MOST else {}
    listed |= {"inner": found["inner"]} if found["inner"] != width else {}
    return listed | ({"dark": found["dark"]} if found["dark"] != (theme == "dark") else {})


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
        for theme in themes:
            each, console = look([(self.page.read_text(), width) for width in widths], theme, self.folder)
            self.assertEqual(console, [])
            for width, found in zip(widths, each, strict=True):
                with self.subTest(width=width, theme=theme):
                    self.assertEqual(wrong(found, width, theme), {})
                    self.assertGreater(found["texts"], 50)
                    self.assertLessEqual(set(headings), set(found["headings"]))
                    self.assertGreaterEqual(len(found["plots"]), plots)
                    self.assertGreater(min(found["plots"], default=1), 0)
                    self.assertGreater(found["bars"], 3)

    def test_a_run(self):
        replayed(self.folder / "r.json", "mixed", REPRISE_PAYS="measured")
        self.made_of(self.folder / "r.json")
        self.fits(["What to do next", "Over time", "Sequences", "What a call costs", "What happened to each call", "Launch time of the replayed calls", "Kernels"], 2)

    def test_real_reports(self):
        self.assertGreaterEqual(len(REAL), 5)
        pages = []
        for path in REAL:
            self.made_of(path)
            pages += [(path.stem, self.page.read_text(), width) for width in WIDTHS]
        for theme in THEMES:
            each, console = look([(text, width) for _, text, width in pages], theme, self.folder)
            self.assertEqual(console, [])
            for (name, _, width), found in zip(pages, each, strict=True):
                with self.subTest(report=name, width=width, theme=theme):
                    self.assertEqual(wrong(found, width, theme), {})
                    self.assertGreater(min(found["plots"]), 0)

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
            self.fits(["Over time"], 2, WIDTHS[1:], ("light",))

    def test_every_verdict(self):
        told, _ = replayed(self.folder / "r.json", "chain")
        turns = {"verdict": "replay", "gain": 1420, "low": 1230, "high": 1610, "processor": 960, "turns": 16, "tests": 1, "loops": 1, "decided_ns": 12_300_000_000, "lost_ns": 4_560_000}
        for theme, measured, changed in (("light", "1.42 x faster, measured in 16 turns, 1.23 to 1.61", {}), ("dark", "GPU-bound: nothing to gain; left eager after 12.3 s, cost 4.56 ms", {"verdict": "bound", "gain": 0}),
                                         ("light", "no gain: left eager after 12.3 s, cost 4.56 ms", {"verdict": "eager", "gain": 940, "low": 920, "high": 960}),
                                         ("dark", "too short to measure", {"verdict": "undecided", "gain": 0})):
            (self.folder / "r.json").write_text(json.dumps(told | {"measured": measured, "turns": turns | changed}))
            self.made_of(self.folder / "r.json")
            with self.subTest(measured=measured):
                self.fits(["Over time"], 2, WIDTHS[1:], (theme,))

    def test_a_comparison(self):
        for name, shape in (("a", "pageable"), ("b", "chain")):
            told, _ = replayed(self.folder / f"{name}.json", shape)
            told["command"].append("W" * 200)
            told["turns"] = {"verdict": "replay", "gain": 1250, "low": 1200, "high": 1300, "processor": 960, "turns": 16, "tests": 1, "loops": 1, "decided_ns": 10**9, "lost_ns": 10**6}
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
        self.assertEqual(sorted(path.name for path in (TOP / "docs" / "pictures").glob("*.png")), sorted(shown))

    FAULTS = (    # in the style or in a drawing, the width at which it shows, and the check that finds it
        (".about { color: var(--eager); }", 1280, "faint"), (".about { color: rgb(24 33 43 / 30%); }", 1280, "faint"), (".about { opacity: .4; }", 1280, "faint"), ("section { opacity: .4; }", 1280, "faint"),
        ("table.stack td::before { color: var(--eager); }", 400, "faint"), (".fold > summary::marker { color: var(--line); }", 1280, "faint"), (".trace summary::before { opacity: .3; }", 1280, "faint"),
        (".trace summary::before { background: var(--quiet); }", 1280, "faint"), ('<text x="1" y="500" font-size="500" fill="var(--line)">word</text></svg>', 1280, "faint"),
        ('<text x="1" y="500" font-size="500" fill="var(--front)" fill-opacity=".3">word</text></svg>', 1280, "faint"), ('<text x="1" y="500" font-size="10" fill="var(--front)">word</text></svg>', 1280, "small"),
        (".about { font-size: 11px; }", 1280, "small"), ("table.stack td::before { font-size: 10px; }", 320, "small"), (".verdict li::marker { font-size: 9px; }", 400, "small"),
        (".about { font-size: 14px; }", 1280, "sizes"), (".rows { width: 200vw; }", 1280, "outside"), ("table { min-width: 380px; }", 320, "outside"),
        ("body::after { content: ''; display: block; width: 330px; height: 1px; }", 320, "wide"), (".places span { left: 0 !important; }", 1280, "overlapping"), (".bar { width: 20px; }", 1280, "flat"),
        (":root { --back: #10151b; }", 1280, "dark"))

    def test_what_the_probe_would_find(self):
        """The test can fail: a page with each fault, and one in a frame of another width."""
        report(self.folder / "r.json", "observe", "chain")
        self.made_of(self.folder / "r.json")
        text = self.page.read_text()
        pages = [(text.replace("</svg>", fault) if "</svg>" in fault else text.replace("</style>", f"{fault}</style>"), width) for fault, width, _ in self.FAULTS]
        (right, *each), _ = look([(text, 401), *pages], "light", self.folder)
        self.assertEqual(wrong(right, 400, "light"), {"inner": 401})
        for (fault, width, check), found in zip(self.FAULTS, each, strict=True):
            with self.subTest(fault=fault):
                self.assertIn(check, wrong(found, width, "light"))


if __name__ == "__main__":
    if BROWSER is None:
        print("skipped: there is no chromium")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
