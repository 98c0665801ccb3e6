"""Last step of a layered drawing: move cells on one side towards the middle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Rows = list[list[int]]
Links = Sequence[Sequence[int]]

ROUNDS = 12


def relaxed(
    x: list[float], rows: Rows, below: Links, separation: Callable[[int, int], float]
) -> list[float]:
    """Positions with shorter edges; cells that were vertically aligned stay aligned.

    Cells that vertical edges connect move together, to where their other edges pull them, as far
    as their neighbors in all rows allow.
    """
    x = list(x)
    blocks = _straight_blocks(x, below)
    block_of = {v: i for i, block in enumerate(blocks) for v in block}
    pulls: list[list[tuple[int, int]]] = [[] for _ in blocks]
    for u, ends in enumerate(below):
        for v in ends:
            if block_of[u] != block_of[v]:
                pulls[block_of[u]].append((u, v))
                pulls[block_of[v]].append((v, u))
    left = {b: a for row in rows for a, b in zip(row, row[1:], strict=False)}
    right = {a: b for b, a in left.items()}
    for sweep in range(ROUNDS):
        order = range(len(blocks)) if sweep % 2 else range(len(blocks) - 1, -1, -1)
        for i in order:
            if not pulls[i]:
                continue
            wish = sum(x[other] - x[own] for own, other in pulls[i]) / len(pulls[i])
            low = max((x[left[v]] + separation(left[v], v) - x[v] for v in blocks[i] if v in left),
                      default=wish)  # fmt: skip
            high = min((x[right[v]] - separation(v, right[v]) - x[v] for v in blocks[i]
                        if v in right), default=wish)  # fmt: skip
            shift = min(max(wish, low), high)
            if low <= shift <= high and abs(shift) > 1e-9:
                for v in blocks[i]:
                    x[v] += shift
    return x


def _straight_blocks(x: list[float], below: Links) -> list[list[int]]:
    """The groups of cells that exactly vertical edges connect."""
    block = list(range(len(x)))

    def find(v: int) -> int:
        while block[v] != v:
            v = block[v]
        return v

    for u, ends in enumerate(below):
        for v in ends:
            if abs(x[u] - x[v]) < 1e-6:
                block[find(v)] = find(u)
    found: dict[int, list[int]] = {}
    for v in range(len(x)):
        found.setdefault(find(v), []).append(v)
    return list(found.values())
