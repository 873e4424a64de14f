"""What the commands in scripts/ share with each other, and with the tests. Python's own library only."""
import importlib.util
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def load(path):
    """A module of another room, which imports none that is beside it."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, TOP / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
