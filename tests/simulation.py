"""What programs are run with on the simulated driver."""
import os


def environment(build):
    """The one here, a sanitizer's options with it, but none of Reprise's."""
    return {key: value for key, value in os.environ.items() if not key.startswith("REPRISE")} | {"LD_LIBRARY_PATH": str(build / "tests" / "sim")}
