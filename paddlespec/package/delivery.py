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

Way = Literal["present", "configmap"]


class Delivery(NamedTuple):
    """How a package is delivered (`present`: it is on a volume), with its faults."""

    way: Way
    faults: tuple[PackageFault, ...] = ()


def delivery(package: Package, collection: Collection | None) -> Delivery:
    """Choose the delivery of *package*, whose files are in *collection*."""
    if package.path.startswith("/"):
        return Delivery("present", tuple(_present(package)))
    return Delivery("configmap", tuple(_configmap(package, collection)))


def _present(package: Package) -> Iterator[PackageFault]:
    if package.delivery != "auto":
        hint = "remove `delivery`, or use a path relative to the spec"
        message = f"delivery {package.delivery} requires a path relative to the spec"
        yield PackageFault(f"{message}, not {package.path}", hint, at="delivery")


def _configmap(package: Package, collection: Collection | None) -> Iterator[PackageFault]:
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
    if size <= MAX_CONFIG_MAP_BYTES:
        size = archive_size(collection, package.into)
    if size > MAX_CONFIG_MAP_BYTES:
        hint = (
            "exclude files in .paddleignore, or copy the code to a volume and use its absolute "
            f"path ({_largest(collection)})"
        )
        message = f"the package has {size:,} bytes; ConfigMap delivery is limited to 1 MiB"
        yield PackageFault(message, hint)
    elif size > MAX_CLIENT_SIDE_BYTES:
        hint = f"use `kubectl apply --server-side` ({_largest(collection)})"
        message = (
            f"the package has {size:,} bytes; client-side kubectl apply is limited to "
            f"{MAX_CLIENT_SIDE_BYTES:,}"
        )
        yield PackageFault(message, hint, Severity.warning)


def _largest(collection: Collection) -> str:
    files = sorted(collection.files, key=lambda file: (-file.size, file.path))[:3]
    return "largest: " + ", ".join(f"{shown(largest.path)} ({largest.size:,})" for largest in files)
