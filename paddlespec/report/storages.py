"""Claims, storage classes and storages of the project, as tables and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddlespec.quantity import as_bytes, as_short
from paddlespec.report.table import Column
from paddlespec.report.table import table as one_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from paddlespec.capacity.storage import Claim, Named, StorageClass

Json = dict[str, Any]
_STORAGE = "storage"


def table(
    claims: Sequence[Claim],
    classes: Sequence[StorageClass],
    named: Sequence[Named],
    *,
    spaces: bool,
    wide: bool,
    width: int | None,
) -> str:
    """Three tables, one below the other; those without rows are left out."""
    parts = [
        one_table(
            (
                Column("NAMESPACE", wide=not spaces),
                *(Column("CLAIM"), Column("PHASE")),
                *(Column("SIZE", right=True), Column("USED", right=True)),
                *(Column("ACCESS"), Column("CLASS"), Column("VOLUME", wide=True)),
            ),
            [
                (
                    *(each.namespace, each.name, each.phase, _cell(each.size), _cell(each.used)),
                    *(each.short_modes, each.storage_class or "", each.volume or ""),
                )
                for each in claims
            ],
            wide=wide,
            width=width,
        ),
        one_table(
            (
                *(Column("CLASS"), Column("PROVISIONER", cut=True), Column("DEFAULT")),
                *(Column("EXPANDABLE"), Column("RECLAIM")),
            ),
            [
                (
                    *(each.name, each.provisioner, _yes(each.is_default)),
                    *(_yes(each.is_expandable), each.reclaim),
                )
                for each in classes
            ],
            wide=wide,
            width=width,
        ),
        one_table(
            (
                *(Column("STORAGE"), Column("DATACENTER"), Column("CLAIM"), Column("PHASE")),
                *(Column("URL", cut=True), Column("READ-ONLY"), Column("LOCAL", wide=True)),
            ),
            [
                (
                    *(each.name, each.datacenter, each.claim or "", each.phase or ""),
                    *(each.url or "", _yes(each.is_read_only), each.local or ""),
                )
                for each in named
            ],
            wide=wide,
            width=width,
        ),
    ]
    return "\n".join(filter(None, parts))


def claim_data(claim: Claim) -> Json:
    return {
        "namespace": claim.namespace,
        "name": claim.name,
        "phase": claim.phase,
        "size": _exact(claim.size),
        "used": _exact(claim.used),
        "accessModes": list(claim.modes),
        "storageClass": claim.storage_class,
        "volume": claim.volume,
    }


def class_data(storage_class: StorageClass) -> Json:
    return {
        "name": storage_class.name,
        "provisioner": storage_class.provisioner,
        "default": storage_class.is_default,
        "expandable": storage_class.is_expandable,
        "reclaimPolicy": storage_class.reclaim,
    }


def named_data(storage: Named) -> Json:
    return {
        "datacenter": storage.datacenter,
        "name": storage.name,
        "claim": storage.claim,
        "phase": storage.phase,
        "url": storage.url,
        "readOnly": storage.is_read_only,
        "local": storage.local,
    }


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def _cell(amount: Decimal | None) -> str:
    return "" if amount is None else as_short(_STORAGE, amount)


def _exact(amount: Decimal | None) -> str | None:
    return None if amount is None else as_bytes(amount)
