"""The target `paddlejob`: a job on a single node as a PaddleJob of the Kubeflow training operator."""

from paddlespec.quantity import seconds
from paddlespec.render.runtime import PER_ROLE
from paddlespec.targets.beside import beside
from paddlespec.targets.metadata import metadata_of
from paddlespec.targets.pod_template import pod_template
from paddlespec.targets.pods import Replica
from paddlespec.targets.scheduling import queued, check_scheduling

backend = "cluster"
naming = PER_ROLE


def check(facts):
    """Report fields that the target does not support."""
    yield from check_scheduling(facts)
    spec = facts.job.spec
    if spec.mode != "collective" or spec.trainers.replicas > 1:
        message = "the target paddlejob runs collective jobs on a single node"
        yield facts.error("unsupported", message, ("spec", "mode"), "use `target: jobset`")


def render(job, context, templates):
    """Render the objects that the pod refers to, then the PaddleJob."""
    objects = [templates.render(f"{name}.yaml.j2", values) for name, values in beside(job, context)]
    policy = job.spec.policy
    keep = seconds(policy.keep_finished or "7d")
    limits = {"backoffLimit": policy.retries, "ttlSecondsAfterFinished": keep}
    if policy.timeout:
        limits["activeDeadlineSeconds"] = seconds(policy.timeout)
    template = pod_template(Replica(job, "trainers", context), templates)
    restart = "OnFailure" if policy.retries else "Never"
    worker = {"replicas": 1, "restartPolicy": restart, "template": template}
    paddle_job = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PaddleJob",
        "metadata": queued(job, metadata_of(job, context)(job.metadata.name, "trainers")),
        "spec": {"runPolicy": limits, "paddleReplicaSpecs": {"Worker": worker}},
    }
    return [*objects, paddle_job]
