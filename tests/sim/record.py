#!/usr/bin/env python3
"""Writes what record.c forwards, the functions that cuda.h declares:  record.py INCLUDE COMPILER ... > record_calls.h

cuda.h declares every exported name as itself once __CUDA_API_VERSION_INTERNAL is defined: record.c is for the very header that
is there, where names.h is for that of 13.0.
"""
import re
import subprocess
import sys

include, *compiler = sys.argv[1:]
header = subprocess.run([*compiler, "-E", "-P", "-D__CUDA_API_VERSION_INTERNAL", f"{include}/cuda.h"],
                        check=True, capture_output=True, text=True).stdout
functions = dict(re.findall(r"\bCUresult\s+(cu[A-Z]\w*)\s*\(([^;]*)\)\s*;", header))
if "cuLaunchKernel" not in functions:
    sys.exit(f"{include}/cuda.h declares no cuLaunchKernel")

lines = ["""/*
 * The driver API of one cuda.h, written by record.py: CALL(exported name, parameters, arguments), or LOOKUP of those that
 * hand out functions.
 */
#pragma once

#define RECORD_CALLS(CALL, LOOKUP) \\"""]
rows = []
for name, text in sorted(functions.items()):
    parameters = " ".join(text.split())
    if re.search(r"[()\[]|\.\.\.", parameters):
        sys.exit(f"{name}: cannot read ({parameters})")
    arguments = [] if parameters == "void" else [re.search(r"\w+$", part.rstrip()).group() for part in parameters.split(",")]
    kind = "LOOKUP" if re.fullmatch(r"cuGetProcAddress(_v\d+)?", name) else "CALL"
    rows.append(f"\t{kind}({name}, ({parameters}), ({', '.join(arguments)}))")
lines.append(" \\\n".join(rows))
print("\n".join(lines))
