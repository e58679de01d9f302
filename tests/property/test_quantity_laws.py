"""Quantities are what the Kubernetes client says they are."""

from __future__ import annotations

from decimal import Decimal, localcontext

from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from paddlespec.model.base import _QUANTITY
from paddlespec.quantity import as_amount, as_bytes, as_count, quantity

whole = st.integers(0, 2**63 - 1)
# What the schema allows; and the small units, which only the API server writes.
written = st.one_of(
    st.from_regex(_QUANTITY.replace("$", r"\Z")),
    st.builds("{}{}".format, whole, st.sampled_from(("n", "u", "m", "k", "Ki", "E", "Ei"))),
)


def client(text: str) -> Decimal:
    number: Decimal = parse_quantity(text)  # type: ignore[no-untyped-call]
    return number


@given(written)
def test_a_quantity_is_the_number_that_the_client_reads(text: str) -> None:
    # Enough digits that neither rounds: Kubernetes keeps fewer than the default of 28.
    with localcontext(prec=200):
        assert quantity(text) == client(text)


@given(whole)
def test_bytes_are_written_as_the_same_number(number: int) -> None:
    assert client(as_bytes(Decimal(number))) == number


@given(st.decimals(0, 2**53, places=9))
def test_counts_are_written_as_the_same_number(number: Decimal) -> None:
    assert client(as_count(number)) == number


@given(whole, st.sampled_from(("cpu", "memory", "limits.memory", "nvidia.com/gpu")))
def test_an_amount_is_read_as_it_was_written(number: int, resource: str) -> None:
    assert quantity(as_amount(resource, Decimal(number))) == number
