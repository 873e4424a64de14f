#!/usr/bin/env python3
"""Writes names.h, the entry points of a toolkit's driver API:  names.py INCLUDE > names.h
With --check names.h it only tells whether that file is as it would be written: names.py INCLUDE --check names.h

cuda.h declares every exported name once __CUDA_API_VERSION_INTERNAL is defined. cudaTypedefs.h says in which version each
form of a function came: the forms of one function, in order of their _vN suffix, are its typedefs in order of version.
"""
import re
import subprocess
import sys
from collections import defaultdict

include = sys.argv[1]
header = subprocess.run(["cpp", "-P", "-D__CUDA_API_VERSION_INTERNAL", f"{include}/cuda.h"],
                        check=True, capture_output=True, text=True).stdout
names = set(re.findall(r"\bCUresult\s+(cu[A-Z]\w*)\s*\(", header))
typedefs = open(f"{include}/cudaTypedefs.h").read()

forms = defaultdict(set)     # (function, suffix) -> names
for name in names:
    function, version, suffix = re.fullmatch(r"(\w+?)(_v\d+)?((?:_ptsz|_ptds)?)", name).groups()
    forms[function, suffix].add((int(version[2:]) if version else 1, name))

introduced = defaultdict(set)
for function, version, suffix in re.findall(r"\bPFN_(cu\w+?)_v(\d+)((?:_ptsz|_ptds)?)\b", typedefs):
    introduced[function, suffix].add(int(version))

lines = ["""/* clang-format off */
/*
 * The driver API of CUDA 13.0, once: X(exported name, function, version that introduced it, suffix of per-thread names).
 * A version of 0 means that cuGetProcAddress does not know the name. Written by names.py; checked against cuda.h by a test.
 */
#pragma once

#define SIM_NAMES(X) \\"""]
rows = []
for (function, suffix), found in sorted(forms.items()):
    versions = sorted(introduced[function, suffix])
    for position, (_, name) in enumerate(sorted(found)):
        if len(versions) == len(found):
            version = versions[position]
        else:
            version = 0
            print(f"{name}: {len(found)} forms, versions {versions}", file=sys.stderr)
        rows.append(f'\tX({name}, {function}, {version}, "{suffix}")')
lines.append(" \\\n".join(rows))
text = "\n".join(lines) + "\n"
if "--check" not in sys.argv:
    sys.stdout.write(text)
elif f"#define CUDA_VERSION 13000" not in open(f"{include}/cuda.h").read():
    sys.exit(77)  # names.h is that of 13.0
elif open(sys.argv[-1]).read() != text:
    sys.exit("names.h does not list what cuda.h declares: run names.py again")
