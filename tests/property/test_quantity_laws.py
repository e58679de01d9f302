"""Quantities are what the Kubernetes client says they are."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from paddlespec.model.base import _QUANTITY
from paddlespec.quantity import as_amount, as_bytes, as_count, canonical, quantity

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


@given(written)
def test_the_canonical_form_is_the_same_number(text: str) -> None:
    with localcontext(prec=200):
        shown = canonical(text)
        assert canonical(shown) == shown
        # The API server keeps nothing below a billionth.
        assert 0 <= quantity(shown) - quantity(text) < Decimal("1e-9")


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (0.5, "500m"),
        (4000, "4k"),
        ("1000m", "1"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("1024Ti", "1Pi"),
        ("0.5Ki", "512"),
        ("1.1Gi", "1181116006400m"),
        ("1e3", "1e3"),
        ("5e-1", "500e-3"),
        ("1E", "1E"),
        ("0.0", "0"),
    ],
)
def test_quantities_are_written_as_the_api_server_stores_them(
    text: str | float, stored: str
) -> None:
    assert canonical(text) == stored
