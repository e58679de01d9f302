"""
Whole processes against peers, in one run: `make bench`.

Runs of the two commands alternate, so that a machine that changes speed changes both; the ratio is
the median of the pairs. Peers that are not installed are left out, and said so.
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
OURS = str(BIN / "paddlespec")
MANIFESTS_PER_SPEC = 6


class Case(NamedTuple):
    """One comparison; `bar` is the largest ratio that docs/performance.md promises."""

    name: str
    ours: list[str]
    peer: list[str]
    bar: float
    runs: int = 15
    scale: float = 1.0


def spec(index: int) -> str:
    """One of many different specs: parameter servers, six manifests."""
    return f"""apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata:
  name: job-{index}
  namespace: ads
  labels: {{team: ads, number: "{index}"}}
spec:
  mode: ps
  image: registry.example.com/team/trainer:{index}.0
  command: python train.py --passes ${{{{ parameters.passes }}}} --seed {index}
  parameters: {{passes: {index % 17 + 1}}}
  env:
    LOG_LEVEL: info
    RUN: job-{index}
    TOKEN: {{secret: team-token, key: token}}
  trainers:
    replicas: {index % 8 + 2}
    resources: {{cpu: 2, memory: 4Gi, gpu: 1, sharedMemory: 1Gi}}
    ports: {{tensorboard: 6006}}
  pservers:
    replicas: {index % 3 + 1}
    resources: {{cpu: 1, memory: 2Gi}}
  volumes:
    - {{name: home, mountPath: /pfs/dc1/home/alice, claim: alice-home}}
    - {{name: public, mountPath: /pfs/dc1/public, claim: public-data, readOnly: true}}
    - {{name: scratch, mountPath: /scratch, claim: {{size: {index % 50 + 1}Gi}}}}
    - {{name: cache, mountPath: /cache, claim: {{size: 1Gi}}}}
  input: /pfs/dc1/public/fit_a_line
  output: /pfs/dc1/home/alice/output/{index}
  policy: {{timeout: 12h, keepFinished: 1h}}
"""


def once(command: list[str]) -> float:
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    spent = time.perf_counter() - started
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.decode()[-500:]}")
    return spent


def measure(case: Case) -> None:
    pairs = []
    once(case.ours), once(case.peer)
    for _ in range(case.runs):
        pairs.append((once(case.ours), once(case.peer)))
    ours, peer = (statistics.median(each) * 1000 for each in zip(*pairs))
    ratio = statistics.median(a / b for a, b in pairs) * case.scale
    verdict = "ok" if ratio <= case.bar else "over"
    print(
        f"{case.name:<44}{ours:>9.1f}{peer:>10.1f}{ratio:>9.2f}{case.bar:>7.2f}  {verdict}",
        flush=True,
    )


def cases(folder: Path) -> list[Case]:
    """Every comparison whose peer is installed."""
    one = folder / "one" / "paddlejob.yaml"
    many = folder / "many"
    for index in range(1000):
        path = many / f"paddlejob-{index}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(spec(index))
    one.parent.mkdir()
    one.write_text(spec(1))
    plain, lots = folder / "plain", folder / "lots"
    for source, out in ((one, plain), (many, lots)):
        subprocess.run(
            [OURS, "render", str(source), "--out", str(out)], check=True, capture_output=True
        )
        kustomization(out)
    rendered = len(list(lots.rglob("*.yaml"))) - 1
    assert rendered == 1000 * MANIFESTS_PER_SPEC, rendered
    some = folder / "some"
    shutil.copytree(next(iter(sorted((lots / "ads").iterdir()))), some)
    for number, each in enumerate(sorted((lots / "ads").iterdir())[1:34]):
        shutil.copytree(each, some / str(number))
    kustomization(some)
    share = len(list(some.rglob("*.yaml"))) - 1
    checked = [
        str(BIN / "check-jsonschema"),
        "--schemafile",
        str(ROOT / "schemas/paddlejob.v1.json"),
    ]
    files = [str(each) for each in sorted(many.iterdir())]
    kubectl = shutil.which("kubectl") or "kubectl"
    torchx = shutil.which("torchx", path=os.environ.get("PEERS")) or "torchx"
    dry = [
        torchx,
        "run",
        "--dryrun",
        "--workspace",
        "",
        "-s",
        "kubernetes",
        "-cfg",
        "queue=q,namespace=ads",
    ]
    dry += ["utils.sh", "--image", "alpine:3", "echo", "hello"]
    return [
        Case(
            "--version / kubectl version --client",
            [OURS, "--version"],
            [kubectl, "version", "--client"],
            1.6,
        ),
        Case(
            "validate 1 / check-jsonschema", [OURS, "validate", str(one)], [*checked, str(one)], 0.5
        ),
        Case(
            "render 1 / kubectl kustomize",
            [OURS, "render", str(one)],
            [kubectl, "kustomize", str(plain)],
            2.5,
        ),
        Case("render 1 / torchx run --dryrun", [OURS, "render", str(one)], dry, 0.35),
        Case(
            "validate 1,000 / check-jsonschema",
            [OURS, "validate", str(many)],
            [*checked, *files],
            0.15,
            5,
        ),
        Case(
            f"render 1,000 ({rendered}) / kustomize ({share}), each",
            [OURS, "render", str(many)],
            [kubectl, "kustomize", str(some)],
            0.25,
            5,
            share / rendered,
        ),
    ]


def kustomization(folder: Path) -> None:
    names = sorted(str(each.relative_to(folder)) for each in folder.rglob("*.yaml"))
    text = "resources:\n" + "".join(f"- {each}\n" for each in names)
    (folder / "kustomization.yaml").write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="part of a case's name")
    only = parser.parse_args().only
    # As pip does when it installs the package; a checkout may have no bytecode.
    compileall.compile_dir(ROOT / "paddlespec", quiet=1)
    print(f"{'median of whole processes':<44}{'ours ms':>9}{'peer ms':>10}{'ratio':>9}{'bar':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(Path(folder)):
            if shutil.which(case.peer[0]) is None:
                print(f"{case.name:<44}  left out: {Path(case.peer[0]).name} is not installed")
            elif only in case.name:
                measure(case)
    # In a process of its own: what the control plane needs is no business of the others.
    subprocess.run([sys.executable, str(ROOT / "tests/bench/cluster.py"), only], check=True)


if __name__ == "__main__":
    main()
