"""Make the pictures of the README and the documentation: ``python -m pictures cards``."""

from __future__ import annotations

import argparse
import sys

from pictures import learners_index, sample_chapter, shots_of_cards, small_class
from pictures.browser import CannotPicture

PARTS = {
    "cards": shots_of_cards.take,
    "chapter": sample_chapter.take,
    "index": learners_index.take,
    "class": small_class.take,
}
"""The fastest part is first."""


def main() -> int:
    """Make all pictures, or the named ones."""
    parser = argparse.ArgumentParser(prog="python -m pictures", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of: {', '.join(PARTS)}")
    wanted = parser.parse_args().parts
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"There is no part {unknown.pop()!r}; there are: {', '.join(PARTS)}.")
    try:
        for name in wanted or PARTS:
            PARTS[name]()
    except CannotPicture as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
