"""The kinds of accelerators: their resources, and the variables that choose among them."""

from __future__ import annotations

from typing import NamedTuple


class Device(NamedTuple):
    """
    One kind of accelerator.

    `resources` are the names, or beginnings of names, under which device plugins register it;
    `visible` are variables that hide devices from a program; `selected` is the flag by which the
    launcher assigns devices to a process. `plugin` is the type of a custom device, which
    paddle.distributed.launch up to Paddle 2.6 does not detect by itself.
    """

    name: str
    resources: tuple[str, ...]
    visible: tuple[str, ...]
    selected: str
    plugin: str | None = None


DEVICES = (
    Device(
        "NVIDIA GPU",
        ("nvidia.com/",),
        ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"),
        "FLAGS_selected_gpus",
    ),
    # ROCm builds of Paddle call their devices GPUs.
    Device(
        "DCU",
        ("hygon.com/", "amd.com/gpu"),
        ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
        "FLAGS_selected_gpus",
    ),
    Device(
        "XPU",
        ("kunlunxin.com/", "baidu.com/xpu"),
        ("XPU_VISIBLE_DEVICES", "XPULINK_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
        "FLAGS_selected_xpus",
    ),
    Device(
        "NPU",
        ("huawei.com/Ascend", "huawei.com/npu"),
        ("ASCEND_RT_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES", "NPU_VISIBLE_DEVICES"),
        "FLAGS_selected_npus",
        "npu",
    ),
    Device(
        "MLU",
        ("cambricon.com/",),
        ("MLU_VISIBLE_DEVICES",),
        "FLAGS_selected_mlus",
        "mlu",
    ),
    Device(
        "GCU",
        ("enflame.com/",),
        ("TOPS_VISIBLE_DEVICES", "GCU_VISIBLE_DEVICES"),
        "FLAGS_selected_gcus",
        "gcu",
    ),
    Device(
        "Iluvatar GPU",
        ("iluvatar.",),
        ("ILUVATAR_GPU_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
        "FLAGS_selected_iluvatar_gpus",
        "iluvatar_gpu",
    ),
    Device(
        "MetaX GPU",
        ("metax-tech.com/",),
        ("METAX_GPU_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
        "FLAGS_selected_metax_gpus",
        "metax_gpu",
    ),
)


def device(resource: str) -> Device | None:
    """Return the kind of accelerator that *resource* requests, or None if it is unknown."""
    return next((kind for kind in DEVICES if resource.startswith(kind.resources)), None)
