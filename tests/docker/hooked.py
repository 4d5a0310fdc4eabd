"""Run a module as a program under an audit hook: `python -m tests.docker.hooked REPORT MODULE [ARGUMENT...]`.

Every path below a folder called sealed that the program opens or lists is added to REPORT, which begins with its name.
"""

import os
import runpy
import sys

EVENTS = ("open", "os.listdir", "os.scandir")


def main(report: str, module: str) -> None:
    """Install the hook, then be the module."""
    handle = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, f"{module}\n".encode())

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event in EVENTS and "sealed" in str(arguments[0]).split("/"):
            os.write(handle, f"{module} opened {arguments[0]}\n".encode())

    sys.addaudithook(watch)
    sys.argv = [module, *sys.argv[3:]]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
