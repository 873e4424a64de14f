#!/usr/bin/env python3
"""Prints the folder in which include/cuda.h of the wheel nvidia-cuda-runtime is, for -Dcuda; nothing where this Python has no such wheel."""
from importlib import metadata

try:
    files = metadata.files("nvidia-cuda-runtime") or []
except metadata.PackageNotFoundError:
    files = []
for file in files:
    if file.parts[-2:] == ("include", "cuda.h"):
        print(file.locate().resolve().parents[1])
        break
