"""
`diff` and `apply` against kubectl's, on one control plane of this machine: part of `make bench`.

The same manifests go to the same API server, each command's into a namespace of its own, new for
every repeat. The commands take turns, and between them the cluster comes to rest.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

if TYPE_CHECKING:
    from control_plane import ControlPlane

OURS = str(Path(sys.executable).parent / "paddlespec")
BARS = {1: {"diff": 2.5, "apply": 1.5}, 100: {"diff": 0.5, "apply": 0.5}}
REPEATS = {1: 5, 100: 3}
NAMES = 44
STEPS = ("diff, nothing there", "apply, first", "apply, unchanged", "diff, unchanged")
# `diff` ends with 1 where there are differences.
FINE = {"diff": (0, 1), "apply": (0,)}

SPEC = """\
apiVersion: paddlespec.io/v1
kind: PaddleJob
metadata:
  name: job-{index}
  labels: {{team: ads, number: "{index}"}}
spec:
  mode: ps
  image: registry.example.com/team/trainer:{index}.0
  command: python train.py --seed {index}
  env:
    LOG_LEVEL: info
    RUN: job-{index}
    TOKEN: {{secret: team-token, key: token}}
  trainers:
    replicas: 2
    resources: {{cpu: 2, memory: 4Gi, gpu: 1, sharedMemory: 1Gi}}
    ports: {{tensorboard: 6006}}
  pservers:
    replicas: 1
    resources: {{cpu: 1, memory: 2Gi}}
  volumes:
    - {{name: home, mountPath: /pfs/dc1/home/alice, claim: alice-home}}
    - {{name: scratch, mountPath: /scratch, claim: {{size: 1Gi}}}}
  output: /pfs/dc1/home/alice/output/{index}
  policy: {{timeout: 12h, keepFinished: 1h}}
"""


class Pair(NamedTuple):
    """What the two commands took, in seconds."""

    ours: float
    peer: float


class Bench:
    """One control plane, and a folder for specs and manifests."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self.plane, self.folder = plane, folder
        self.kubectl = shutil.which("kubectl") or plane.kubectl_binary
        self.environment = {
            **os.environ,
            "KUBECONFIG": str(plane.kubeconfig),
            "KUBECACHEDIR": str(folder / "kubectl-cache"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "NO_PROXY": "*",
        }

    def prepare(self, jobs: int) -> tuple[Path, Path, int]:
        """Folders of specs and of their manifests, and how many manifests those are."""
        specs, manifests = self.folder / f"specs-{jobs}", self.folder / f"manifests-{jobs}"
        specs.mkdir()
        for index in range(jobs):
            (specs / f"paddlejob-{index}.yaml").write_text(SPEC.format(index=index))
        self.once([OURS, "render", str(specs), "--out", str(manifests)], (0,))
        return specs, manifests, len(list(manifests.rglob("*.yaml")))

    def measure(self, jobs: int) -> dict[str, list[Pair]]:
        specs, manifests, _ = self.prepare(jobs)
        found: dict[str, list[Pair]] = {each: [] for each in STEPS}
        for repeat in range(REPEATS[jobs]):
            spaces = [f"{side}-{jobs}-{repeat}" for side in ("ours", "peer")]
            for each in spaces:
                self.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": each}})
            for step in STEPS:
                verb = step.partition(",")[0]
                commands = (
                    [OURS, verb, str(specs), "-n", spaces[0]],
                    [self.kubectl, verb, "--server-side", "-R", "-f", str(manifests)],
                )
                spent = [0.0, 0.0]
                # Whoever is first meets a colder server.
                for side in (0, 1) if repeat % 2 else (1, 0):
                    more = ["-n", spaces[1]] if side else []
                    self.rest()
                    spent[side] = self.once([*commands[side], *more], FINE[verb])
                found[step].append(Pair(*spent))
        return found

    def rest(self) -> None:
        """Wait until the controllers have written what there is to write about the jobs."""
        seen: list[object] = []
        for _ in range(120):
            jobs = self.plane.request("GET", "/apis/batch/v1/jobs")["items"]
            seen.append(sorted(each["metadata"]["resourceVersion"] for each in jobs))
            if len(seen) > 2 and seen[-1] == seen[-2] == seen[-3]:
                return
            time.sleep(0.7)

    def once(self, command: list[str], fine: tuple[int, ...]) -> float:
        started = time.perf_counter()
        done = subprocess.run(
            command, env=self.environment, capture_output=True, check=False, cwd=self.folder
        )
        spent = time.perf_counter() - started
        if done.returncode not in fine:
            sys.exit(f"{' '.join(command)}: {done.returncode}: {done.stderr.decode()[-800:]}")
        return spent


def main(only: str = "") -> None:
    """Print the ratios, or loudly why there are none."""
    from control_plane import started
    from control_plane.build import binaries_folder

    wanted = {jobs for jobs in REPEATS if any(only in named(each, jobs) for each in STEPS)}
    if not wanted:
        return
    binaries = binaries_folder()
    if not (binaries / "kube-apiserver").exists():
        print("cluster SKIPPED: there is no control plane; build one: make cluster-bin", flush=True)
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bench = Bench(stack.enter_context(started(binaries)), folder)
        for jobs in sorted(wanted):
            for step, pairs in bench.measure(jobs).items():
                show(named(step, jobs), pairs, BARS[jobs][step.partition(",")[0]])


def named(step: str, jobs: int) -> str:
    return f"cluster: {step}, {jobs} / kubectl"


def show(name: str, pairs: list[Pair], bar: float) -> None:
    ours, peer = (statistics.median(each) * 1000 for each in zip(*pairs, strict=True))
    ratio = statistics.median(each.ours / each.peer for each in pairs)
    verdict = "ok" if ratio <= bar else "over"
    print(
        f"{name:<{NAMES}}{ours:>9.1f}{peer:>10.1f}{ratio:>9.2f}{bar:>7.2f}  {verdict}", flush=True
    )


if __name__ == "__main__":
    main(*sys.argv[1:2])
