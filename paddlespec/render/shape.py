"""
Check that objects of Kubernetes have the types this program reads.

Answers of servers and manifests that others wrote are checked once, where they come in. Only fields
that are read have a type here; all others, and those of unknown kinds, may be anything.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from paddlespec.answers import parsed

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

    from paddlespec.diagnostic import Path

Schema = dict[str, Any]

_LONGEST_PATH = 120
_TEXT: Schema = {"type": "string"}
_NAME: Schema = {"type": "string", "minLength": 1, "maxLength": 512}
_FLAG: Schema = {"type": "boolean"}
_INT: Schema = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}
_COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
_ANY_OBJECT: Schema = {"type": "object"}
# The API writes null for a time that is not set.
_TIME: Schema = {"type": ["string", "null"], "maxLength": 64}
_QUANTITY: Schema = {
    "type": ["string", "number"],
    "minimum": 0,
    "maximum": 2**63,
    "maxLength": 40,
    "pattern": r"^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,2}|[numkMGTPE]|[KMGTPE]i)?$",
}


def _list(item: Schema) -> Schema:
    return {"type": ["array", "null"], "items": item}


def _map(value: Schema) -> Schema:
    return {"type": ["object", "null"], "additionalProperties": value}


def _object(properties: Schema, *required: str) -> Schema:
    return {"type": "object", "properties": properties, "required": required}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


_AMOUNTS = _map(_QUANTITY)
_LABELS = _map({"type": "string", "maxLength": 253})
_RESOURCES = _or_null(_object({"requests": _AMOUNTS, "limits": _AMOUNTS}))
_CONDITIONS = _list(
    _object(
        {
            "type": _TEXT,
            "status": _TEXT,
            "reason": _TEXT,
            "message": _TEXT,
            "lastTransitionTime": _TIME,
        },
        "type",
        "status",
    )
)
_EXPRESSIONS = _list(
    _object({"key": _TEXT, "operator": _TEXT, "values": _list(_TEXT)}, "key", "operator")
)
_METADATA = _object(
    {
        "name": _NAME,
        "namespace": _NAME,
        "uid": _NAME,
        "resourceVersion": _NAME,
        "generation": {"type": "integer"},
        "labels": _LABELS,
        "annotations": _map(_TEXT),
        "creationTimestamp": _TIME,
        "deletionTimestamp": _TIME,
        "ownerReferences": _list(
            _object({"kind": _TEXT, "name": _TEXT, "uid": _TEXT, "controller": _FLAG}, "uid")
        ),
        "managedFields": _list(
            _object({"manager": _TEXT, "operation": _TEXT, "fieldsV1": {"$ref": "#/$defs/fields"}})
        ),
    },
    "name",
)
_TEMPLATE_METADATA = _or_null(_object({"labels": _LABELS, "annotations": _map(_TEXT)}))
_CONTAINER = _object(
    {
        "name": _TEXT,
        "image": _TEXT,
        "command": {"type": "array", "items": _TEXT},
        "args": {"type": "array", "items": _TEXT},
        "restartPolicy": _TEXT,
        "env": _list(_object({"name": _TEXT, "value": _TEXT, "valueFrom": _ANY_OBJECT}, "name")),
        "resources": _RESOURCES,
        "ports": _list(_object({"name": _TEXT, "containerPort": _COUNT}, "containerPort")),
        "volumeMounts": _list(
            _object(
                {"name": _TEXT, "mountPath": _TEXT, "subPath": _TEXT, "readOnly": _FLAG},
                "name",
                "mountPath",
            )
        ),
    },
    "name",
)
_AFFINITY = _or_null(
    _object(
        {
            "nodeAffinity": _or_null(
                _object(
                    {
                        "requiredDuringSchedulingIgnoredDuringExecution": _or_null(
                            _object(
                                {
                                    "nodeSelectorTerms": _list(
                                        _object(
                                            {
                                                "matchExpressions": _EXPRESSIONS,
                                                "matchFields": _EXPRESSIONS,
                                            }
                                        )
                                    )
                                }
                            )
                        )
                    }
                )
            )
        }
    )
)
_TOLERATION = _object({"key": _TEXT, "operator": _TEXT, "value": _TEXT, "effect": _TEXT})
_VOLUME = _object(
    {
        "name": _TEXT,
        "persistentVolumeClaim": _object({"claimName": _TEXT}, "claimName"),
        "configMap": _ANY_OBJECT,
        "secret": _ANY_OBJECT,
        "hostPath": _ANY_OBJECT,
        "nfs": _ANY_OBJECT,
        "csi": _ANY_OBJECT,
        "emptyDir": _ANY_OBJECT,
    },
    "name",
)
_POD = _object(
    {
        "containers": {"type": "array", "minItems": 1, "items": _CONTAINER},
        "initContainers": _list(_CONTAINER),
        "volumes": _list(_VOLUME),
        "nodeName": _TEXT,
        "nodeSelector": _LABELS,
        "affinity": _AFFINITY,
        "tolerations": _list(_TOLERATION),
        "schedulingGates": _list(_object({"name": _TEXT})),
        "imagePullSecrets": _list(_object({"name": _TEXT})),
        "overhead": _AMOUNTS,
        "schedulerName": _TEXT,
        "priorityClassName": _TEXT,
        "restartPolicy": _TEXT,
        "subdomain": _TEXT,
    },
    "containers",
)
_TEMPLATE = _object({"metadata": _TEMPLATE_METADATA, "spec": _POD}, "spec")
_JOB = _object(
    {
        "template": _TEMPLATE,
        "parallelism": _COUNT,
        "completions": _COUNT,
        "backoffLimit": _COUNT,
        "activeDeadlineSeconds": _COUNT,
        "ttlSecondsAfterFinished": _COUNT,
        "suspend": _FLAG,
    },
    "template",
)
_CONTAINER_STATE = _or_null(
    _object(
        {
            "waiting": _object({"reason": _TEXT, "message": _TEXT}),
            "running": _object({"startedAt": _TIME}),
            "terminated": _object(
                {
                    "exitCode": _INT,
                    "signal": _INT,
                    "reason": _TEXT,
                    "message": _TEXT,
                    "startedAt": _TIME,
                    "finishedAt": _TIME,
                },
                "exitCode",
            ),
        }
    )
)
_CONTAINER_STATUSES = _list(
    _object(
        {
            "name": _TEXT,
            "image": _TEXT,
            "ready": _FLAG,
            "restartCount": _COUNT,
            "state": _CONTAINER_STATE,
            "lastState": _CONTAINER_STATE,
        },
        "name",
    )
)
_QUEUE_STATUS = {
    "pendingWorkloads": _COUNT,
    "admittedWorkloads": _COUNT,
    "reservingWorkloads": _COUNT,
}
_FLAVOR_USE = _object(
    {"name": _TEXT, "resources": _list(_object({"name": _TEXT, "total": _QUANTITY}, "name"))},
    "name",
)
_FLAVOR = _object(
    {
        "name": _TEXT,
        "resources": {
            "type": "array",
            "items": _object(
                {
                    "name": _TEXT,
                    "nominalQuota": _QUANTITY,
                    "borrowingLimit": {**_QUANTITY, "type": ["string", "number", "null"]},
                },
                "name",
                "nominalQuota",
            ),
        },
    },
    "name",
    "resources",
)
_MOUNT = _object({"name": _TEXT, "mountPath": _TEXT, "subPath": _TEXT, "readOnly": _FLAG})


def _kind(spec: Schema, status: Schema | None = None, *required: str, **others: Schema) -> Schema:
    properties = {"spec": spec, "status": _or_null(status or _ANY_OBJECT), **others}
    return {"properties": properties, "required": required}


_CONDITIONED = _object({"conditions": _CONDITIONS})
_OPTIONAL = _or_null(_ANY_OBJECT)
_KINDS: dict[str, Schema] = {
    "ConfigMap": _kind({}, data=_map(_TEXT)),
    "Secret": _kind({}, data=_map(_TEXT), type=_TEXT),
    "Service": _kind(_object({"ports": _list(_ANY_OBJECT), "selector": _LABELS})),
    "Pod": _kind(
        _POD,
        _object(
            {
                "phase": _TEXT,
                "reason": _TEXT,
                "message": _TEXT,
                "podIP": _TEXT,
                "startTime": _TIME,
                "conditions": _CONDITIONS,
                "containerStatuses": _CONTAINER_STATUSES,
                "initContainerStatuses": _CONTAINER_STATUSES,
            }
        ),
        "spec",
    ),
    "Job": _kind(
        _JOB,
        _object(
            {
                "conditions": _CONDITIONS,
                "startTime": _TIME,
                "completionTime": _TIME,
                **dict.fromkeys(("active", "ready", "succeeded", "failed"), _COUNT),
            }
        ),
        "spec",
    ),
    "JobSet": _kind(
        _object(
            {
                "replicatedJobs": _list(
                    _object(
                        {
                            "name": _NAME,
                            "replicas": _COUNT,
                            "template": _object({"spec": _JOB}, "spec"),
                        },
                        "name",
                        "template",
                    )
                ),
                "network": _or_null(_object({"enableDNSHostnames": _FLAG, "subdomain": _TEXT})),
                "suspend": _FLAG,
                "ttlSecondsAfterFinished": _COUNT,
            }
        ),
        _object(
            {
                "conditions": _CONDITIONS,
                "restarts": _COUNT,
                "replicatedJobsStatus": _list(
                    _object(
                        {
                            "name": _TEXT,
                            **dict.fromkeys(("active", "ready", "succeeded", "failed"), _COUNT),
                        },
                        "name",
                    )
                ),
            }
        ),
        "spec",
    ),
    "StatefulSet": _kind(
        _object(
            {
                "template": _TEMPLATE,
                "replicas": _COUNT,
                "serviceName": _TEXT,
                "ordinals": _or_null(_object({"start": _COUNT})),
            },
            "template",
        ),
        _object(
            {
                "conditions": _CONDITIONS,
                **dict.fromkeys(
                    ("replicas", "readyReplicas", "currentReplicas", "updatedReplicas"), _COUNT
                ),
            }
        ),
        "spec",
    ),
    "Event": _kind(
        {},
        reason=_TEXT,
        message=_TEXT,
        type=_TEXT,
        count=_COUNT,
        firstTimestamp=_TIME,
        lastTimestamp=_TIME,
        eventTime=_TIME,
        series=_or_null(_object({"count": _COUNT, "lastObservedTime": _TIME})),
        involvedObject=_object({"kind": _TEXT, "name": _TEXT, "uid": _TEXT}),
    ),
    "Lease": _kind(
        _or_null(
            _object(
                {
                    "holderIdentity": _TEXT,
                    "leaseDurationSeconds": {"type": "integer", "minimum": 1, "maximum": 86_400},
                    "renewTime": _TIME,
                }
            )
        )
    ),
    "PersistentVolumeClaim": _kind(
        _object(
            {
                "accessModes": _list(_TEXT),
                "resources": _RESOURCES,
                "storageClassName": _TEXT,
                "volumeName": _TEXT,
            }
        ),
        _object({"phase": _TEXT, "capacity": _AMOUNTS, "conditions": _CONDITIONS}),
        "spec",
    ),
    "StorageClass": _kind(
        {},
        None,
        "provisioner",
        provisioner=_TEXT,
        allowVolumeExpansion=_FLAG,
        reclaimPolicy=_TEXT,
        volumeBindingMode=_TEXT,
    ),
    "Node": _kind(
        _object(
            {
                "unschedulable": _FLAG,
                "taints": _list(
                    _object({"key": _TEXT, "value": _TEXT, "effect": _TEXT}, "key", "effect")
                ),
            }
        ),
        _object({"conditions": _CONDITIONS, "capacity": _AMOUNTS, "allocatable": _AMOUNTS}),
    ),
    "ResourceQuota": _kind(
        _object(
            {
                "hard": _AMOUNTS,
                "scopes": _list(_TEXT),
                "scopeSelector": _or_null(
                    _object(
                        {
                            "matchExpressions": _list(
                                _object(
                                    {
                                        "scopeName": _TEXT,
                                        "operator": _TEXT,
                                        "values": _list(_TEXT),
                                    },
                                    "scopeName",
                                    "operator",
                                )
                            )
                        }
                    )
                ),
            }
        ),
        _object({"hard": _AMOUNTS, "used": _AMOUNTS}),
    ),
    "LimitRange": _kind(
        _object(
            {
                "limits": _list(
                    _object(
                        {
                            "type": _TEXT,
                            **dict.fromkeys(
                                ("min", "max", "default", "defaultRequest", "maxLimitRequestRatio"),
                                _AMOUNTS,
                            ),
                        },
                        "type",
                    )
                )
            }
        ),
        None,
        "spec",
    ),
    "LocalQueue": _kind(
        _object({"clusterQueue": _TEXT, "stopPolicy": _TEXT}),
        _object({"conditions": _CONDITIONS, **_QUEUE_STATUS}),
    ),
    "ClusterQueue": _kind(
        _object(
            {
                "cohort": _TEXT,
                "cohortName": _TEXT,
                "stopPolicy": _TEXT,
                "resourceGroups": _list(
                    _object({"flavors": {"type": "array", "items": _FLAVOR}}, "flavors")
                ),
            }
        ),
        _object(
            {"conditions": _CONDITIONS, "flavorsReservation": _list(_FLAVOR_USE), **_QUEUE_STATUS}
        ),
        "spec",
    ),
    "Workload": _kind(
        _object({"active": _FLAG, "queueName": _TEXT, "priority": _INT}),
        _object(
            {
                "conditions": _CONDITIONS,
                "admissionChecks": _list(_object({"name": _TEXT, "state": _TEXT}, "name")),
            }
        ),
        "spec",
    ),
    # Of Volcano.
    "Queue": _kind(
        _object({"capability": _AMOUNTS, "weight": _INT}),
        _object({"allocated": _AMOUNTS, "state": _TEXT, "pending": _COUNT, "running": _COUNT}),
    ),
    "PodGroup": _kind(
        _object({"queue": _TEXT, "minMember": _COUNT}),
        _object({"phase": _TEXT, "conditions": _CONDITIONS}),
    ),
    "SelfSubjectAccessReview": _kind({}, _object({"allowed": _FLAG})),
    # Of rehearsals, which `render --target local` prints.
    "Process": _kind(
        _object(
            {
                "command": _list(_TEXT),
                "env": _list(_object({"name": _TEXT, "value": _TEXT}, "name")),
                "resources": _AMOUNTS,
                "mounts": _list(_MOUNT),
            }
        ),
        None,
        "spec",
    ),
    "Rehearsal": _kind(_object({"timeout": {**_COUNT, "type": ["integer", "null"]}}), None, "spec"),
}
_DEFS: Schema = {
    "fields": {"type": "object", "additionalProperties": {"$ref": "#/$defs/fields"}},
}


class Shape:
    """A schema that is compiled when it is first used."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def fault(self, data: object) -> str | None:
        """Return the path of the first value of a wrong type as text, or None."""
        path = self.wrong(data)
        if path is None:
            return None
        text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
        return text.removeprefix(".")[:_LONGEST_PATH] or "the answer as a whole"

    def wrong(self, data: object) -> Path | None:
        """Return the path of the first value of a wrong type, or None."""
        validator = _compiled(self)
        try:
            if validator.is_valid(data):
                return None
            return tuple(next(iter(validator.iter_errors(data))).instance_path)
        except ValueError:  # what UTF-8 cannot encode
            return ()

    def read(self, text: str) -> Any:
        """Parse JSON of this shape; raises `ValueError`."""
        data = parsed(text)
        if self.wrong(data) is not None:
            raise ValueError("a value has a wrong type")
        return data

    def compiled(self) -> Draft202012Validator:
        import jsonschema_rs

        return jsonschema_rs.Draft202012Validator({"$defs": _DEFS, **self._schema})


@lru_cache(maxsize=64)
def stored(kind: str, *, namespaced: bool = False) -> Shape:
    """The shape of an object as a server returns it."""
    return Shape(_of(kind, _live(namespaced=namespaced)))


@lru_cache(maxsize=64)
def listed(kind: str, *, namespaced: bool = False) -> Shape:
    """The shape of a list; its items lack their kind."""
    item = _of(kind, _live(namespaced=namespaced), identified=False)
    return Shape(_object({"metadata": _OPTIONAL, "items": _list(item)}, "items"))


@lru_cache(maxsize=64)
def manifest(kind: str) -> Shape:
    """The shape of an object as somebody wrote it."""
    return Shape(_of(kind, _METADATA))


def is_manifest(data: object) -> bool:
    """Report whether *data* is an object of Kubernetes, or of a rehearsal."""
    kind = data.get("kind") if isinstance(data, dict) else None
    return isinstance(kind, str) and manifest(kind).wrong(data) is None


ANY = Shape(_ANY_OBJECT)
NAMES = Shape(
    _object(
        {
            "metadata": _or_null(_object({"continue": _TEXT})),
            "items": _list(_object({"metadata": _METADATA}, "metadata")),
        },
        "items",
    )
)
STATUS = Shape(
    _object(
        {
            "message": _TEXT,
            "reason": _TEXT,
            "status": _TEXT,
            "details": _or_null(
                _object(
                    {
                        "name": _TEXT,
                        "kind": _TEXT,
                        "causes": _list(
                            _object({"reason": _TEXT, "message": _TEXT, "field": _TEXT})
                        ),
                    }
                )
            ),
        }
    )
)
VERSION = Shape(_object({"gitVersion": {"type": "string", "maxLength": 80}}, "gitVersion"))
GROUP = Shape(
    _object(
        {"preferredVersion": _object({"groupVersion": _NAME}, "groupVersion")}, "preferredVersion"
    )
)
RESOURCES = Shape(_object({"resources": _list(_ANY_OBJECT)}, "resources"))
SUMMARY = Shape(
    _object(
        {
            "pods": _list(
                _object(
                    {
                        "volume": _list(
                            _object(
                                {
                                    "pvcRef": _or_null(
                                        _object(
                                            {"name": _TEXT, "namespace": _TEXT},
                                            "name",
                                            "namespace",
                                        )
                                    ),
                                    "usedBytes": {
                                        **_COUNT,
                                        "maximum": 2**63,
                                        "type": ["integer", "null"],
                                    },
                                }
                            )
                        )
                    }
                )
            )
        }
    )
)


def _live(*, namespaced: bool) -> Schema:
    more = ("namespace",) if namespaced else ()
    return {**_METADATA, "required": ("name", "uid", *more)}


def _of(kind: str, metadata: Schema, *, identified: bool = True) -> Schema:
    own = _KINDS.get(kind, {"properties": {"spec": {}, "status": _OPTIONAL}, "required": ()})
    if kind == "SelfSubjectAccessReview":
        metadata = _OPTIONAL
    identity = {"apiVersion": _TEXT, "kind": {"const": kind}} if identified else {}
    properties = {**identity, "metadata": metadata, **own["properties"]}
    return {
        "type": "object",
        "properties": properties,
        "required": (*identity, "metadata", *own["required"]),
    }


@lru_cache(maxsize=128)
def _compiled(shape: Shape) -> Draft202012Validator:
    return shape.compiled()
