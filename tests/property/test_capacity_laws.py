"""More room never makes anything fit worse, and less need neither."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paddlespec.capacity import quota
from paddlespec.capacity.demand import demand
from paddlespec.capacity.line import Line, with_need
from paddlespec.capacity.need import Group, Need
from paddlespec.capacity.node import Node
from paddlespec.capacity.placement import placed
from paddlespec.capacity.queue import Queue, Share
from paddlespec.capacity.queue import lines_with_need as admitted
from paddlespec.capacity.quota import Quota
from paddlespec.quantity import as_amount, quantity

NAMES = ("cpu", "memory", "nvidia.com/gpu")
ORDER = {False: 0, None: 1, True: 2}
few = st.integers(0, 12).map(lambda number: Decimal(number) / 2)
resources = st.dictionaries(st.sampled_from(NAMES), few)
nodes = st.lists(st.tuples(resources, resources), max_size=4).map(
    lambda listed: [
        Node(f"n{index}", True, True, {}, (), {}, {**has, "pods": Decimal(3)}, used)
        for index, (has, used) in enumerate(listed)
    ]
)


@st.composite
def groups(draw: st.DrawFn, most: int = 1) -> list[Group]:
    found = []
    for _ in range(draw(st.integers(1, most))):
        limits = {name: str(amount) for name, amount in draw(resources).items()}
        pod: dict[str, Any] = {"containers": [{"name": "c", "resources": {"limits": limits}}]}
        found.append(Group("r", draw(st.integers(1, 6)), pod, "night"))
    return found


def better(before: list[Line], after: list[Line]) -> bool:
    return all(ORDER[a.fits] <= ORDER[b.fits] for a, b in zip(before, after))


@given(few, few, few)
def test_what_fits_still_fits_with_more_that_is_free(
    free: Decimal, need: Decimal, more: Decimal
) -> None:
    line = Line("k", "n", "r", free=free)
    found, then = with_need(line, need), with_need(line._replace(free=free + more), need)
    assert better([found], [then])
    assert (found.short or 0) >= (then.short or 0)
    assert found.fits == (found.short == 0)


@given(resources, resources, resources, groups(3))
def test_a_quota_of_which_less_is_used_is_never_worse(
    hard: dict[str, Decimal], used: dict[str, Decimal], less: dict[str, Decimal], own: list[Group]
) -> None:
    before = Quota("ns", "q", {f"requests.{name}": each for name, each in hard.items()}, {})
    freed = {f"requests.{name}": each + less.get(name, 0) for name, each in used.items()}
    need = Need(tuple(own), ())
    now = before._replace(used={f"requests.{name}": each for name, each in used.items()})
    assert better(
        quota.lines_with_need(before._replace(used=freed), need), quota.lines_with_need(now, need)
    )


@given(nodes, groups(), resources)
def test_more_room_on_nodes_places_no_fewer_equal_pods(
    listed: list[Node], own: list[Group], more: dict[str, Decimal]
) -> None:
    (before,) = placed(own, listed)
    freed = [each._replace(used={}) for each in listed]
    grown = [
        each._replace(
            allocatable={
                name: amount + more.get(name, 0) for name, amount in each.allocatable.items()
            }
        )
        for each in listed
    ]
    for then in (freed, grown, [*listed, *freed]):
        (after,) = placed(own, then)
        assert (after.free or 0) >= (before.free or 0)
        assert better([before], [after])


@given(nodes, groups(3))
def test_what_is_placed_is_never_more_than_what_is_free(
    listed: list[Node], own: list[Group]
) -> None:
    found = placed(own, listed)
    for name in NAMES:
        taken = sum(
            (line.free or 0) * demand(each.pod).get(name, Decimal(0))
            for line, each in zip(found, own)
        )
        assert taken <= sum(each.free.get(name, Decimal(0)) for each in listed)
    assert sum(each.free or 0 for each in found) <= sum(each.free["pods"] for each in listed)


@given(st.lists(st.tuples(few, few), min_size=1, max_size=3), groups(), few)
def test_a_queue_with_a_larger_quota_is_never_worse(
    flavors: list[tuple[Decimal, Decimal]], own: list[Group], more: Decimal
) -> None:
    def fits(extra: Decimal) -> int:
        shares = tuple(
            Share(name, has + extra, used, f"f{index}")
            for index, (has, used) in enumerate(flavors)
            for name in NAMES
        )
        queue = Queue("kueue", "night", "ns", shares=shares)
        return min(ORDER[each.fits] for each in admitted([queue], Need(tuple(own), ()), "ns"))

    assert fits(more) >= fits(Decimal(0))


@given(st.sampled_from(["cpu", "memory", "requests.storage"]), st.integers(0, 2**50))
def test_an_exact_amount_can_be_read_again(resource: str, number: int) -> None:
    assert quantity(as_amount(resource, Decimal(number))) == number
