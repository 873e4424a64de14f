"""What results say of where they were taken: GPU, driver, processor, commit; and writing them down."""
import ctypes
import datetime
import os
import platform
import re
import shlex
import subprocess
import sys
from pathlib import Path


def gpus():
    """The driver and how many GPUs it sees, or None and the reason why there is none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None, "libcuda.so.1 is not there"
    result = driver.cuInit(0)
    if result:
        return None, f"cuInit returned {result}"
    count = ctypes.c_int()
    if driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return None, "the driver sees no device"
    return driver, count.value


def gpu_count():
    driver, count = gpus()
    return count if driver else 0


def gpu_name():
    """The first GPU's name, or None and the reason why there is none."""
    driver, found = gpus()
    if driver is None:
        return None, found
    name = ctypes.create_string_buffer(128)
    driver.cuDeviceGetName(name, len(name), 0)
    return name.value.decode(errors="replace"), None


def driver_version():
    try:
        out = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "-i", "0"],
                             capture_output=True, text=True, timeout=20)
        if out.returncode == 0 and out.stdout.strip():
            return out.stdout.split("\n")[0].strip()
    except (OSError, subprocess.TimeoutExpired):
        pass
    return "unknown"


def git(*arguments):
    try:
        out = subprocess.run(["git", *arguments], capture_output=True, text=True, timeout=20,
                             cwd=Path(__file__).resolve().parent)
        return out.stdout.strip() if out.returncode == 0 else ""
    except (OSError, subprocess.TimeoutExpired):
        return ""


def commit(told=None):
    """The commit as it was told, or that of the working tree."""
    found = told or git("rev-parse", "--short=12", "HEAD") or "unknown"
    return found + (", with changes" if not told and git("status", "--porcelain", "--untracked-files=no") else "")


def processor():
    try:
        model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
        return model.group(1) if model else platform.machine()
    except OSError:
        return platform.machine()


def facts(gpu, script, commit_told=None):
    """What every table of results begins with."""
    return {"date": datetime.date.today().isoformat(), "GPU": gpu, "driver": driver_version(), "CPU": f"{processor()}, {os.cpu_count()} cores",
            "commit": commit(commit_told), "command": f"`{shlex.join([f'scripts/{script}', *sys.argv[1:]])}`"}


def new_page(folder, name):
    """The path of a page of today, named after what it is of; never one that there is."""
    slug = f"{datetime.date.today().isoformat()}-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return next(path for path in (folder / f"{slug}{again}.md" for again in ("", *(f"-{n}" for n in range(2, 100)))) if not path.exists())


def write_result(folder, name, text):
    """Writes a page of today. Returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = new_page(folder, name)
    path.write_text(text, encoding="utf-8")
    return path
