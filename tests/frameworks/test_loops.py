#!/usr/bin/env python3
"""The form of the loops: what scripts/turns needs of each is there, each is short, and each has its row in README.md. None is run: that takes a GPU."""
import ast
import re
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOOPS = [path for path in sorted(HERE.glob("*.py")) if not path.name.startswith("test_")]
LINES_MOST, LOOPS_LEAST = 40, 24


class Loops(unittest.TestCase):
    def test_there_are_enough(self):
        self.assertGreaterEqual(len(LOOPS), LOOPS_LEAST)

    def test_each_is_short_and_says_what_it_is(self):
        for path in LOOPS:
            with self.subTest(path.stem):
                text = path.read_text()
                self.assertLess(len(text.splitlines()), LINES_MOST)
                self.assertRegex(ast.get_docstring(ast.parse(text)), r"^[^\n]+: [^\n]+\.$")

    def test_each_can_be_compiled(self):
        for path in LOOPS:
            with self.subTest(path.stem):
                compile(path.read_text(), str(path), "exec")

    def test_setup_returns_a_step_a_wait_and_outputs(self):
        for path in LOOPS:
            with self.subTest(path.stem):
                setups = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef) and node.name == "setup"]
                self.assertEqual(len(setups), 1)
                self.assertEqual(ast.dump(setups[0].args), ast.dump(ast.parse("def setup(): pass").body[0].args))
                last = setups[0].body[-1]
                self.assertIsInstance(last, ast.Return)
                self.assertIsInstance(last.value, ast.Tuple)
                self.assertEqual(len(last.value.elts), 3)
                steps = [node for node in setups[0].body if isinstance(node, ast.FunctionDef) and node.name == "step"]
                self.assertEqual((len(steps), ast.dump(last.value.elts[0])), (1, ast.dump(ast.parse("step", mode="eval").body)))

    def test_nothing_is_drawn_without_a_seed(self):
        for path in LOOPS:
            text = path.read_text()
            with self.subTest(path.stem):
                if re.search(r"\btorch\.rand|nn\.Linear|nn\.LSTM|nn\.GRU|SAGEConv\(|BertConfig\(|LlamaConfig\(|create_model|resnet", text):
                    self.assertIn("torch.manual_seed(", text)
                self.assertNotRegex(text, r"default_rng\(\)|random\.random\(|pretrained=True|from_pretrained|DEFAULT")

    def test_each_has_a_row_in_the_table(self):
        rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", (HERE / "README.md").read_text(), re.M)
        self.assertEqual(rows, [path.stem for path in LOOPS])


if __name__ == "__main__":
    unittest.main()
