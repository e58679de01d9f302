"""Print claims, storage classes and the project's storages as tables or as plain data."""

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
    """Print up to three tables, one below the other; tables without rows are omitted."""
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
                    *(
                        claim.namespace,
                        claim.name,
                        claim.phase,
                        _cell(claim.size),
                        _cell(claim.used),
                    ),
                    *(claim.short_modes, claim.storage_class or "", claim.volume or ""),
                )
                for claim in claims
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
                    *(
                        storage_class.name,
                        storage_class.provisioner,
                        _yes(storage_class.is_default),
                    ),
                    *(_yes(storage_class.is_expandable), storage_class.reclaim),
                )
                for storage_class in classes
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
                    *(storage.name, storage.datacenter, storage.claim or "", storage.phase or ""),
                    *(storage.url or "", _yes(storage.is_read_only), storage.local or ""),
                )
                for storage in named
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
