"""`python -m reprise_cuda ARGUMENT...` is the command `reprise` of the same installation, also where its folder is not on the PATH."""
import os
import sys
from pathlib import Path
from typing import Optional


def find_command() -> Optional[Path]:
    """The command lies in the folder `bin` of a folder above this module: the environment's, the user's, or what --target named."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "share" / "reprise" / "lib" / "libreprise.so").exists() and (folder / "bin" / "reprise").exists():
            return folder / "bin" / "reprise"
    return None


def main() -> None:
    command = find_command()
    if command is None:
        sys.exit(f"reprise_cuda: the command reprise was not found in a folder above {Path(__file__).resolve().parent}: install the wheel reprise-cuda")
    os.execv(command, ["reprise", *sys.argv[1:]])


if __name__ == "__main__":
    main()
