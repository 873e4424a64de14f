"""Filters of system calls (seccomp), as programs set them that lock themselves in, and as containers have them."""
import ctypes
import errno
import os
import platform
import struct

NUMBERS = {"x86_64": {"open": 2, "clone": 56, "rename": 82, "link": 86, "flock": 73, "openat": 257, "renameat": 264, "linkat": 265, "accept4": 288, "renameat2": 316, "seccomp": 317,
                      "memfd_create": 319, "clone3": 435, "pidfd_open": 434, "close_range": 436, "pidfd_getfd": 438},
           "aarch64": {"flock": 32, "linkat": 37, "renameat": 38, "openat": 56, "clone": 220, "accept4": 242, "renameat2": 276, "seccomp": 277, "memfd_create": 279, "pidfd_open": 434,
                       "clone3": 435, "close_range": 436, "pidfd_getfd": 438}}.get(platform.machine(), {})

KILL, REFUSE, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000    # SECCOMP_RET_KILL_PROCESS, _ERRNO, _ALLOW
LOAD, IS, ANSWER = 0x20, 0x15, 0x06    # BPF_LD | BPF_W | BPF_ABS, BPF_JMP | BPF_JEQ | BPF_K, BPF_RET | BPF_K
PR_GET_SECCOMP, PR_SET_NO_NEW_PRIVS, SET_MODE_FILTER, ALL_THREADS = 21, 38, 1, 1


# What Reprise does of its own accord: files, and threads.
OWN = ("open", "openat", "rename", "renameat", "renameat2", "link", "linkat", "flock", "memfd_create", "accept4", "pidfd_open", "pidfd_getfd", "clone", "clone3")


def are_there():
    """Whether this process is under filters already, as in a container."""
    return ctypes.CDLL(None).prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0


def program(names, answer):
    """Loads the number; each of the calls jumps to the last instruction."""
    numbers = [NUMBERS[name] for name in names if name in NUMBERS]
    steps = [(LOAD, 0, 0, 0), *((IS, len(numbers) - i, 0, number) for i, number in enumerate(numbers)), (ANSWER, 0, 0, ALLOW), (ANSWER, 0, 0, answer)]
    return len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps)


def forbid(*names, answer=None, number=errno.ENOSYS, all_threads=False):
    """From now on these calls are answered so: by that error, unless another answer is given."""
    count, code = program(names, REFUSE | number if answer is None else answer)
    libc = ctypes.CDLL(None, use_errno=True)
    kept = ctypes.create_string_buffer(code)
    filter_ = ctypes.create_string_buffer(struct.pack("@HP", count, ctypes.addressof(kept)))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.syscall(NUMBERS["seccomp"], SET_MODE_FILTER, ALL_THREADS if all_threads else 0, filter_) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
