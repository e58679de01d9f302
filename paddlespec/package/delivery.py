"""Decide how the code is delivered to the replicas, and report obstacles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from paddlespec.diagnostic import Severity
from paddlespec.package import PackageFault
from paddlespec.package.archive import MAX_CLIENT_SIDE_BYTES, MAX_CONFIG_MAP_BYTES, archive_size
from paddlespec.package.walk import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.model.run import Package
    from paddlespec.package.collect import Collection

MAX_REHEARSED_BYTES = 256 * 1_048_576
"""The limit of a rehearsal, which gives every replica a copy."""

Way = Literal["present", "configmap"]


class Delivery(NamedTuple):
    """How a package is delivered (`present`: it is on a volume), with its faults."""

    way: Way
    faults: tuple[PackageFault, ...] = ()


def delivery(
    package: Package, collection: Collection | None, *, is_rehearsed: bool = False
) -> Delivery:
    """
    Choose the delivery of *package*, whose files are in *collection*.

    A package that is only too large for its delivery does not stop a rehearsal.
    """
    if package.path.startswith("/"):
        return Delivery("present", tuple(_present(package)))
    faults = tuple(_configmap(package, collection, is_rehearsed=is_rehearsed))
    return Delivery("configmap", faults)


def _present(package: Package) -> Iterator[PackageFault]:
    if package.delivery != "auto":
        hint = "remove `delivery`, or use a path relative to the spec"
        message = f"delivery {package.delivery} requires a path relative to the spec"
        yield PackageFault(f"{message}, not {package.path}", hint, at="delivery")


def _configmap(
    package: Package, collection: Collection | None, *, is_rehearsed: bool
) -> Iterator[PackageFault]:
    if package.delivery not in ("auto", "configmap"):
        hint = "use configmap, or copy the code to a volume and use its absolute path"
        message = f"delivery {package.delivery} is not available yet"
        yield PackageFault(message, hint, at="delivery")
        return
    if collection is None or collection.faults:
        return
    if not collection.files:
        hint = "check the ignore files in this folder and above, up to the root of the repository"
        yield PackageFault("the package is empty: all files are ignored", hint, Severity.warning)
        return
    size = collection.total
    if size <= (MAX_REHEARSED_BYTES if is_rehearsed else MAX_CONFIG_MAP_BYTES):
        size = archive_size(collection, package.into)
    if size > MAX_CONFIG_MAP_BYTES:
        hint = (
            "exclude files in .paddleignore and read data from a volume, or copy the code to a "
            f"volume and use its absolute path ({_largest(collection)})"
        )
        limit = "ConfigMap delivery is limited to 1 MiB"
        if is_rehearsed and size <= MAX_REHEARSED_BYTES:
            message = f"the package has {size:,} bytes and cannot run in a cluster: {limit}"
            yield PackageFault(message, hint, Severity.warning)
            return
        if is_rehearsed:
            limit = "rehearsals are limited to 256 MiB, and ConfigMap delivery to 1 MiB"
        yield PackageFault(f"the package has {size:,} bytes; {limit}", hint)
    elif size > MAX_CLIENT_SIDE_BYTES and not is_rehearsed:
        hint = f"use `kubectl apply --server-side` ({_largest(collection)})"
        message = (
            f"the package has {size:,} bytes; client-side kubectl apply is limited to "
            f"{MAX_CLIENT_SIDE_BYTES:,}"
        )
        yield PackageFault(message, hint, Severity.warning)


def _largest(collection: Collection) -> str:
    files = sorted(collection.files, key=lambda file: (-file.size, file.path))[:3]
    return "largest: " + ", ".join(f"{shown(largest.path)} ({largest.size:,})" for largest in files)
