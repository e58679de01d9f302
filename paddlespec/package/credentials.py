"""Find files of a package that usually hold credentials; everyone who may read pods could read them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from paddlespec.diagnostic import Severity
from paddlespec.package import PackageFault
from paddlespec.package.walk import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddlespec.package.collect import Collection
    from paddlespec.package.walk import File

_NAMES = frozenset(
    (
        *(".env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf"),
        *(".git-credentials", ".dockercfg", ".dockerconfigjson", ".htpasswd", ".s3cfg", ".boto"),
        *(".vault-token", "kubeconfig", "kaggle.json", "application_default_credentials.json"),
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"),
    )
)
_PATHS = frozenset(
    (
        *(".docker/config.json", ".aws/credentials", ".kube/config", ".config/gh/hosts.yml"),
        *(".huggingface/token", "huggingface/token", ".azure/accessTokens.json"),
        *(".config/gcloud/credentials.db", ".kaggle/access_token", ".ssh/identity"),
    )
)
_SUFFIXES = (".kubeconfig", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk")
_EXAMPLES = frozenset(("example", "sample", "template", "dist", "defaults", "schema"))
# These may also hold public certificates, so their content decides.
_KEYS = (".pem", ".key")
_KEY = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY")
MAX_KEY_BYTES = 65_536
_SHOWN = 10


def credentials(collection: Collection) -> Iterator[PackageFault]:
    """Warn of each file that looks like credentials, with the line that leaves it out."""
    found = [file for file in collection.files if _is_credential(file)]
    for file in found[:_SHOWN]:
        hint = f"add the line {_pattern(file.path)} to .paddleignore, and use a Secret"
        message = f"{shown(file.path)} usually holds credentials"
        yield PackageFault(message, hint, Severity.warning)
    if len(found) > _SHOWN:
        message = f"{len(found) - _SHOWN:,} more files usually hold credentials"
        yield PackageFault(message, "list them in .paddleignore", Severity.warning)


def _is_credential(file: File) -> bool:
    # The package may be `.aws` itself, and a link may have another name than its target.
    for path in (file.path, file.source.replace(os.sep, "/")):
        parts = path.split("/")
        name = parts[-1]
        if name in _NAMES or name.endswith(_SUFFIXES):
            return True
        if any("/".join(parts[-length:]) in _PATHS for length in (2, 3)):
            return True
        if name.startswith(".env.") and not _EXAMPLES & set(name.split(".")):
            return True
    return file.path.endswith(_KEYS) and _holds_key(file.source)


def _holds_key(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return _KEY.search(file.read(MAX_KEY_BYTES)) is not None
    except OSError:
        return False


def _pattern(path: str) -> str:
    """Return the line of an ignore file that matches only *path*."""
    escaped = re.sub(r"([\\*?\[])", r"\\\1", shown(path))
    return "/" + re.sub(r" $", r"\\ ", escaped)
