"""A program's place among others that measure the same in turn: turns.go says how, and why. Import it before torch."""
import os
import sys

_USUAL = 9  # rounds; as in turns.go
_told = _answers = None
if os.environ.get("HALFTONE_TURNS"):
    _told, _answers = os.fdopen(3), os.fdopen(4, "w", buffering=1)


def _hear():
    line = _told.readline()
    if not line:  # figures of a program alone would be of another kind
        raise SystemExit("turns: the run has ended")
    return line.rstrip("\n")


if _told:
    _hear()  # until then another program runs


def has(names):
    """Says all names that are to come, in their order, before the first of them, as the others may lack some, and returns them: without those that
    were measured by a program that this one takes the place of."""
    behind = os.environ.get("HALFTONE_TURNS_BEHIND", "").split("\n")
    names = [name for name in names if not _told or name not in behind]
    for name in names if _told else ():
        print("has", name, file=_answers)
    return names


def unless_lost(name, error):
    """Ends the program, so that another takes its place, if the error has lost it the device: nothing runs in this one any more."""
    if "CUDA error" in str(error):
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(3)


def _one(measure):
    try:
        return measure()
    except BaseException:  # whoever catches it runs then: not while another program measures
        print("failed", file=_answers)
        _hear()
        raise


def rounds(name, measure):
    """The seconds of each round of what has a name: the usual number of them where nobody else says how many."""
    if not _told:
        return [measure() for _ in range(_USUAL)]
    print("at", name, file=_answers)
    seconds = []
    while _hear() == "round":
        seconds.append(_one(measure))
        print("took", seconds[-1], file=_answers)
    return seconds
