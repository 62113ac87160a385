"""Starts the programs in this package."""

import os
import sys

_IMAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "image")
_CHANGED = 1735689600  # when the files of all packages were changed last; the archive of classes fits these alone


def command():
    """The command line without arguments."""
    _date_jars()
    return [os.path.join(_IMAGE, "bin", "pipewright")]


def _date_jars():
    """Gives the jars back the time that their archive was made for; installers of wheels set another."""
    lib = os.path.join(_IMAGE, "lib")
    try:
        for name in os.listdir(lib):
            jar = os.path.join(lib, name)
            if name.endswith(".jar") and os.stat(jar).st_mtime != _CHANGED:
                os.utime(jar, (_CHANGED, _CHANGED))
    except OSError:
        pass  # not ours to write: it starts without the archive, in twice the time


def main():
    line = command()
    os.execv(line[0], line + sys.argv[1:])


def profile():
    try:
        import pipewright_profile
    except ModuleNotFoundError as e:
        sys.exit(f"pipewright-profile: needs the Python package {e.name}; install it, for example by `pip install {e.name}`")
    sys.exit(pipewright_profile.main(sys.argv[1:]))
