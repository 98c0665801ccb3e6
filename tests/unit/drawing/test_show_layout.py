"""The layout: no overlaps, downward edges, straight chains, and the same result every time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

import pytest

from autograder.drawing.layout.crossing_reduction import crossings, ordered
from autograder.drawing.layout.islands import WIDEST_ROW, in_rows, islands_of
from autograder.drawing.layout.layer_assignment import layers_of
from autograder.drawing.layout.layered import Layout, layout

Edges = list[tuple[int, int]]


def random_dag(seed: int) -> tuple[list[tuple[float, float]], Edges]:
    """Boxes of different sizes, most with one to three inputs from earlier boxes."""
    draw = random.Random(seed)
    count = draw.randint(2, 40)
    edges = {
        (draw.randint(max(0, v - 8), v - 1), v)
        for v in range(1, count)
        for _ in range(draw.choice((0, 1, 1, 1, 2, 3)))
    }
    sizes = [(draw.uniform(50, 220), draw.choice((22.0, 36.0, 80.0))) for _ in range(count)]
    return sizes, sorted(edges, key=lambda edge: edge[::-1])


def overlapping(drawing: Layout) -> list[tuple[int, int]]:
    """Pairs of boxes that overlap."""
    return [
        (i, j)
        for (i, a), (j, b) in combinations(enumerate(drawing.spots), 2)
        if abs(a.x - b.x) < (a.width + b.width) / 2 - 1e-6
        and abs(a.y - b.y) < (a.height + b.height) / 2 - 1e-6
    ]


@pytest.mark.parametrize("seed", range(60))
def test_no_boxes_overlap_and_all_lie_on_the_page(seed: int) -> None:
    drawing = layout(*random_dag(seed))
    assert not overlapping(drawing)
    for spot in drawing.spots:
        assert -1e-6 <= spot.x - spot.width / 2 and spot.x + spot.width / 2 <= drawing.width + 1e-6
        assert -1e-6 <= spot.y - spot.height / 2
        assert spot.y + spot.height / 2 <= drawing.height + 1e-6


@pytest.mark.parametrize("seed", range(60))
def test_edges_lead_down_and_pass_no_box(seed: int) -> None:
    sizes, edges = random_dag(seed)
    drawing = layout(sizes, edges)
    assert {(wire.source, wire.target) for wire in drawing.wires} == set(edges)
    for wire in drawing.wires:
        heights = [y for _, y in wire.points]
        assert all(b >= a - 1e-6 for a, b in zip(heights, heights[1:], strict=False))
        source, target = drawing.spots[wire.source], drawing.spots[wire.target]
        assert wire.points[0] == pytest.approx((source.x, source.y + source.height / 2))
        assert wire.points[-1][1] == pytest.approx(target.y - target.height / 2)
        assert abs(wire.points[-1][0] - target.x) < target.width / 2
        for i in range(3, len(wire.points) - 2, 2):  # where the wire passes a row
            (x, top), (_, low) = wire.points[i - 1], wire.points[i]
            for spot in drawing.spots:
                inside = top <= spot.y <= low
                assert not (inside and abs(x - spot.x) < spot.width / 2)


def test_the_same_input_gives_the_same_layout() -> None:
    sizes, edges = random_dag(7)
    assert layout(sizes, edges) == layout(sizes, edges)


@pytest.mark.parametrize("skip", [[], [(0, 9)], [(0, 3), (2, 7), (4, 9)]])
def test_a_chain_is_straight_also_beside_long_edges(skip: Edges) -> None:
    chain = [(i, i + 1) for i in range(9)]
    sizes = [(60.0 + 17 * (i % 3), 30.0) for i in range(10)]
    spots = layout(sizes, chain + skip).spots
    assert max(spot.x for spot in spots) - min(spot.x for spot in spots) < 1e-6


def test_a_diamond_is_symmetric() -> None:
    spots = layout([(80.0, 30.0)] * 4, [(0, 1), (0, 2), (1, 3), (2, 3)]).spots
    assert spots[0].x == pytest.approx(spots[3].x)
    assert spots[0].x == pytest.approx((spots[1].x + spots[2].x) / 2)


def test_a_source_stands_above_its_first_reader_and_an_output_at_the_bottom() -> None:
    edges = [(0, 1), (1, 2), (2, 4), (3, 4), (0, 5)]  # 3 has a late reader; 5 ends early
    layer = layers_of(6, edges, last=[5])
    assert layer[3] == layer[4] - 1
    assert layer[5] == max(layer)
    assert all(layer[u] < layer[v] for u, v in edges)


def test_crossings_are_found_and_removed() -> None:
    below = [[5], [4], [3], [], [], []]
    above: list[list[int]] = [[], [], [], [2], [1], [0]]
    rows = [[0, 1, 2], [3, 4, 5]]
    assert crossings(rows, below) == 3
    assert crossings(ordered(rows, above, below), below) == 0


def test_what_is_read_first_stands_left() -> None:
    spots = layout([(60.0, 20.0)] * 3, [(1, 2), (0, 2)]).spots
    assert spots[1].x < spots[0].x


def test_nothing_and_one_box() -> None:
    assert layout([], []) == Layout(0.0, 0.0, (), ())
    assert layout([(40.0, 20.0)], []).spots[0].x == 20.0


@pytest.mark.parametrize("edge", [(1, 1), (1, 0), (0, 5)])
def test_an_edge_that_leads_up_is_refused(edge: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="later"):
        layout([(40.0, 20.0)] * 2, [edge])


def test_nodes_without_readers_are_next_to_the_main_line() -> None:
    main = [(0, 1), (1, 3), (3, 5)]
    probes = [(0, 2), (1, 4), (3, 6)]  # 5 is the output; 2, 4 and 6 have no readers
    spots = layout([(80.0, 30.0)] * 7, main + probes, last=[5], ends=[5]).spots
    assert len({round(spots[i].x, 6) for i in (0, 1, 3, 5)}) == 1
    assert all(abs(spots[i].x - spots[0].x) > 50 for i in (2, 4, 6))


@pytest.mark.parametrize("seed", range(8))
def test_islands_of_a_wide_drawing_are_in_rows(seed: int) -> None:
    sizes, edges = random_dag(seed)
    count = len(sizes)
    sizes, edges = sizes * 2, [*edges, *((u + count, v + count) for u, v in edges)]
    islands = islands_of(2 * count, edges, [count])
    assert count in islands[0] and sorted(sum(islands, [])) == list(range(2 * count))

    def lay_out(boxes: Sequence[int]) -> Layout:
        own = [(boxes.index(u), boxes.index(v)) for u, v in edges if u in boxes]
        return layout([sizes[box] for box in boxes], own)

    whole = layout(sizes, edges)
    drawing = in_rows(whole, islands, lay_out)
    assert not overlapping(drawing) and len(drawing.spots) == 2 * count
    assert {(wire.source, wire.target) for wire in drawing.wires} == set(edges)
    widest = max(lay_out(boxes).width for boxes in islands)
    assert drawing.width <= min(whole.width, max(WIDEST_ROW, widest))
