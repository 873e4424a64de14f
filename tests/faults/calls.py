#!/usr/bin/env python3
"""What the driver functions that Reprise calls look like, and the errors that CUDA documents for each; from cuda.h and src/driver/functions.h.

    calls.py header INCLUDE FUNCTIONS COMPILER ... > fault_calls.h      what failing.c puts itself before
    calls.py errors INCLUDE FUNCTIONS > errors.txt                      a line for each function: its name and errors; "previous" if it may also answer
                                                                        those of earlier, asynchronous work
    calls.py check INCLUDE FUNCTIONS errors.txt                         whether that file is as it would be written
"""
import re
import subprocess
import sys
from pathlib import Path

OPS = re.compile(r"cu(LaunchKernel(Ex)?|LaunchHostFunc|Memcpy\w*Async(_v2)?|Memset\w*Async|EventRecord(WithFlags)?|StreamWaitEvent)")
MAKES = ("cuStreamCreateWithPriority", "cuGreenCtxStreamCreate", "cuEventCreate")
ENDS = ("cuStreamDestroy_v2", "cuEventDestroy_v2", "cuGraphDestroy", "cuGraphExecDestroy", "cuDevicePrimaryCtxRelease_v2")
# Of functions that cuda.h declares without a word of their own.
AS = {"cuGraphInstantiateWithFlags": "cuGraphInstantiate"}


def wanted(functions):
    return re.findall(r"(?:NEEDED|OPTIONAL)\((cu\w+)\)", Path(functions).read_text())


def header(include, functions, *compiler):
    text = subprocess.run([*compiler, "-E", "-P", "-D__CUDA_API_VERSION_INTERNAL", f"{include}/cuda.h"], check=True, capture_output=True, text=True).stdout
    declared = dict(re.findall(r"\bCUresult\s+(cu[A-Z]\w*)\s*\(([^;]*)\)\s*;", text))
    rows = []
    for name in wanted(functions):
        if name not in declared:
            continue    # of another version than this cuda.h
        parameters = [" ".join(part.split()) for part in declared[name].split(",")]
        arguments = [] if parameters == ["void"] else [re.search(r"\w+$", part).group() for part in parameters]
        kind = "OP" if OPS.fullmatch(name) else "MAKE" if name in MAKES else "END" if name in ENDS else "COPY" if name == "cuStreamCopyAttributes" else "CALL"
        types = {part.rpartition(" ")[0].replace("const ", ""): argument for part, argument in zip(parameters, arguments)}
        stream = f"{arguments[0]}->hStream" if name == "cuLaunchKernelEx" else types.get("CUstream")
        handles = [stream, types.get("CUevent", "NULL")] if kind == "OP" else arguments if kind == "COPY" else [arguments[0]] if kind != "CALL" else []
        rows.append(f"\t{kind}(" + ", ".join([name, "(" + ", ".join(parameters) + ")", "(" + ", ".join(arguments) + ")", *handles]) + ")")
    print("/* Written by calls.py: OP(name, parameters, arguments, stream, event), CALL without these, MAKE and END with a handle, COPY with two. */\n#pragma once\n\n#define FAULT_CALLS(CALL, OP, MAKE, END, COPY) \\\n" + " \\\n".join(rows))


def errors(include, functions):
    text = Path(include, "cuda.h").read_text()
    numbers = dict(re.findall(r"\b(CUDA_ERROR_\w+)\s*=\s*(\d+)", text))
    documented = {}
    for words, name in re.findall(r"/\*\*((?:(?!/\*\*).)*?)\*/\s*(?:#if[^\n]*\n\s*)?(?:__CUDA_DEPRECATED\s+)?CUresult\s+CUDAAPI\s+(\w+)\s*\(", text, re.DOTALL):
        returned = re.search(r"\\return\b(.*?)(?=\\note|\\sa|\Z)", words, re.DOTALL)
        named = {int(numbers[error]) for error in re.findall(r"CUDA_ERROR_\w+", returned.group(1) if returned else "")}
        documented[name] = " ".join([*map(str, sorted(named)), *(["previous"] if "\\notefnerr" in words else [])])
    lines = []
    for name in wanted(functions):
        plain = re.sub(r"_v\d$", "", AS.get(name, name))
        lines.append(f"{name} {documented.get(name) or documented[plain]}\n")
    return "".join(lines)


def main():
    what, include, functions, *more = sys.argv[1:]
    if what == "header":
        header(include, functions, *more)
    elif what == "errors":
        sys.stdout.write(errors(include, functions))
    elif "#define CUDA_VERSION 13000" not in Path(include, "cuda.h").read_text():
        sys.exit(77)    # errors.txt is of 13.0
    elif Path(more[0]).read_text() != errors(include, functions):
        sys.exit(f"{more[0]} is not what cuda.h documents: run calls.py errors again")


if __name__ == "__main__":
    main()
