"""The real controllers of JobSet and Kueue work on this control plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError

import kueue
import pytest
from kueue import job_spec
from user import User, conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from control_plane import ControlPlane


@pytest.fixture
def user(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> User:
    return User.admin(control_plane, namespace, tmp_path)


@pytest.fixture
def jobsets(user: User, controllers: Callable[..., None]) -> User:
    controllers("jobset")
    return user


@pytest.fixture
def queues(user: User, controllers: Callable[..., None]) -> Iterator[User]:
    """A user with a queue that has three cores."""
    controllers("kueue")
    with kueue.quota(user, kueue.one_flavor(cpu=3)):
        yield user


def jobset(max_restarts: int = 0, **marks: str) -> dict[str, Any]:
    """Return pservers, and trainers that wait for them; *marks* are those of the trainers."""
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "fit"},
        "spec": {
            "failurePolicy": {"maxRestarts": max_restarts},
            "successPolicy": {"operator": "All", "targetReplicatedJobs": ["trainers"]},
            "replicatedJobs": [
                {"name": "pservers", "template": {"spec": job_spec("pservers")}},
                {
                    "name": "trainers",
                    "dependsOn": [{"name": "pservers", "status": "Ready"}],
                    "template": {"spec": job_spec("trainers", marks=marks)},
                },
            ],
        },
    }


def create(user: User, manifest: dict[str, Any]) -> None:
    user.plane.request("POST", user.path("jobsets"), manifest)


def ended(user: User, condition: str) -> Any:
    """Return the JobSet once it has this condition."""
    user.plane.eventually(lambda: condition in conditions(user.get("jobsets", "fit")), within=60)
    return user.get("jobsets", "fit")


def test_a_jobset_completes_when_its_trainers_do(jobsets: User) -> None:
    create(jobsets, jobset(run_for="2s"))
    live = ended(jobsets, "Completed")
    assert live["status"]["terminalState"] == "Completed"
    assert live["status"]["restarts"] == 0
    assert jobsets.phases("fit-trainers-0") == ["Succeeded", "Succeeded"]
    jobsets.plane.eventually(lambda: jobsets.names("jobs") == ["fit-trainers-0"])
    jobsets.plane.eventually(lambda: jobsets.phases("fit-pservers-0") == [])


def test_no_trainer_of_a_jobset_starts_before_its_pservers_are_ready(jobsets: User) -> None:
    manifest = jobset(run_for="1h")
    pservers = manifest["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pservers["containers"][0]["image"] = "registry.test/does-not-exist:1"
    create(jobsets, manifest)
    jobsets.plane.eventually(lambda: jobsets.phases("fit-pservers-0") == ["Pending"] * 2)
    jobsets.settled()
    assert jobsets.names("jobs") == ["fit-pservers-0"]


def test_trainers_of_a_jobset_start_after_its_pservers(jobsets: User) -> None:
    create(jobsets, jobset(run_for="1h"))
    jobsets.plane.eventually(lambda: jobsets.phases("fit-trainers-0") == ["Running"] * 2)
    assert jobsets.get("jobs", "fit-pservers-0")["status"]["ready"] == 2


def test_a_failed_trainer_restarts_the_whole_jobset(jobsets: User) -> None:
    create(jobsets, jobset(max_restarts=2, fail="1"))
    live = ended(jobsets, "Failed")
    assert live["status"]["restarts"] == 2
    [failed] = [
        condition for condition in live["status"]["conditions"] if condition["type"] == "Failed"
    ]
    assert failed["reason"] == "ReachedMaxRestarts"
    assert "fit-trainers-0" in failed["message"]
    attempts = {
        job["metadata"]["labels"]["jobset.sigs.k8s.io/restart-attempt"]
        for job in jobsets.all("jobs")
    }
    assert attempts == {"2"}


def test_the_webhook_of_jobset_refuses_what_the_schema_allows(jobsets: User) -> None:
    manifest = jobset()
    manifest["spec"]["replicatedJobs"][1]["dependsOn"] = [{"name": "evaluators", "status": "Ready"}]
    with pytest.raises(HTTPError) as refusal:
        create(jobsets, manifest)
    assert "admission webhook" in refusal.value.read().decode()


def test_a_job_waits_until_another_leaves_its_quota(queues: User) -> None:
    kueue.submit(queues, "first", run_for="1h")
    queues.plane.eventually(lambda: queues.phases("first") == ["Running"] * 2)
    kueue.submit(queues, "second")
    refusal = queues.plane.eventually(
        lambda: kueue.holds(kueue.workload(queues, "second"), "QuotaReserved", "False")
    )
    assert refusal
    assert "insufficient unused quota for cpu in flavor spot, 1 more needed" in refusal
    assert queues.get("jobs", "second")["spec"]["suspend"] is True
    assert queues.phases("second") == []
    queues.plane.kubectl("delete", "job", "first", "-n", queues.namespace)
    queues.plane.eventually(
        lambda: "Complete" in conditions(queues.get("jobs", "second")),
        within=kueue.COLLECTED_SECONDS,
    )


def test_a_stopped_queue_evicts_its_jobs_and_admits_them_again(queues: User) -> None:
    kueue.submit(queues, "first", run_for="1h")
    queues.plane.eventually(lambda: queues.phases("first") == ["Running"] * 2)
    kueue.stop(queues, "HoldAndDrain")
    queues.plane.eventually(lambda: queues.phases("first") == [])
    assert queues.get("jobs", "first")["spec"]["suspend"] is True
    assert kueue.holds(kueue.workload(queues, "first"), "Evicted")
    kueue.stop(queues, "None")
    queues.plane.eventually(lambda: queues.phases("first") == ["Running"] * 2)


def test_a_jobset_waits_in_a_queue_as_a_whole(jobsets: User, queues: User) -> None:
    kueue.submit(queues, "first", run_for="1h")
    queues.plane.eventually(lambda: queues.phases("first") == ["Running"] * 2)
    manifest = jobset(run_for="1s")
    manifest["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": kueue.QUEUE}
    for role in manifest["spec"]["replicatedJobs"]:
        role["template"]["spec"] |= {"completions": 1, "parallelism": 1}
    create(jobsets, manifest)
    refusal = queues.plane.eventually(
        lambda: kueue.holds(kueue.workload(queues, "fit"), "QuotaReserved", "False")
    )
    assert "insufficient unused quota for cpu in flavor spot, 1 more needed" in str(refusal)
    assert jobsets.get("jobsets", "fit")["spec"]["suspend"] is True
    queues.plane.kubectl("delete", "job", "first", "-n", queues.namespace)
    ended(jobsets, "Completed")
