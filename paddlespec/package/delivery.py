"""How the code gets into the replicas, and what stands in its way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from paddlespec.diagnostic import Severity
from paddlespec.package import PackageFault
from paddlespec.package.archive import LARGEST, WARN_ABOVE, archive_size
from paddlespec.package.walk import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.model.run import Package
    from paddlespec.package.collect import Collection

Way = Literal["present", "configmap"]


class Delivery(NamedTuple):
    """How a package travels, `present` when it is already there, and what is wrong with that."""

    way: Way
    faults: tuple[PackageFault, ...] = ()


def delivery(package: Package, collection: Collection | None) -> Delivery:
    """What the delivery of *package* comes to, where *collection* is what would travel."""
    if package.path.startswith("/"):
        return Delivery("present", tuple(_present(package)))
    return Delivery("configmap", tuple(_configmap(package, collection)))


def _present(package: Package) -> Iterator[PackageFault]:
    if package.delivery != "auto":
        hint = "leave out `delivery`, or give a path relative to the spec"
        message = f"delivery {package.delivery} carries a folder beside the spec"
        yield PackageFault(f"{message}, but {package.path} is already there", hint)


def _configmap(package: Package, collection: Collection | None) -> Iterator[PackageFault]:
    if package.delivery not in ("auto", "configmap"):
        hint = "use configmap, or put the code on a volume and give its absolute path"
        yield PackageFault(f"delivery {package.delivery} is not available yet", hint)
        return
    if collection is None or collection.faults:
        return
    if not collection.files:
        hint = "ignore files count up to the top of the repository; see .paddleignore"
        yield PackageFault("nothing in the package travels", hint, Severity.warning)
        return
    size = archive_size(collection, package.into)
    if size > LARGEST:
        hint = (
            f"{_largest(collection)}: leave out what the job does not need in .paddleignore, or "
            "put the code on a volume and give its absolute path"
        )
        yield PackageFault(f"the code is {size:,} bytes, a ConfigMap takes {LARGEST:,}", hint)
    elif size > WARN_ABOVE:
        hint = f"{_largest(collection)}; `kubectl apply --server-side` takes it"
        message = f"the code is {size:,} bytes, client-side kubectl apply takes {WARN_ABOVE:,}"
        yield PackageFault(message, hint, Severity.warning)


def _largest(collection: Collection) -> str:
    """The largest files, for someone who has to choose."""
    files = sorted(collection.files, key=lambda file: (-file.size, file.path))[:3]
    return "largest: " + ", ".join(f"{shown(each.path)} ({each.size:,})" for each in files)
