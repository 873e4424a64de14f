"""What the commands in scripts/ share with each other, and with the tests. Python's own library only."""
import importlib.machinery
import importlib.util
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def load(path):
    """A module of another room, which imports none that is beside it; or a script, whose name has no ending."""
    loader = importlib.machinery.SourceFileLoader(Path(path).stem, str(TOP / path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
