"""Fit a line with data-parallel trainers, or with one: python train.py."""

import argparse
import os
from pathlib import Path

import numpy as np
import paddle
import paddle.distributed as dist

WEIGHTS, BIAS = np.array([[2.0], [-3.0], [0.5]], "float32"), 4.0


def rows(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Generate the same rows on every trainer; load your data here."""
    features = np.random.default_rng(1).normal(size=(count, 3)).astype("float32")
    return features, features @ WEIGHTS + np.float32(BIAS)


def main() -> None:
    """Train on this trainer's share of the rows; the first trainer saves the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    args = parser.parse_args()

    rank, world = dist.get_rank(), dist.get_world_size()
    model = line = paddle.nn.Linear(3, 1)
    if world > 1:
        if not paddle.is_compiled_with_cuda():
            os.environ.setdefault("PADDLE_DISTRI_BACKEND", "gloo")
        dist.init_parallel_env()
        model = paddle.DataParallel(line)  # averages the gradients of all trainers
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())

    # Every trainer gets the same number of rows: one with an extra batch would wait forever.
    mine = slice(rank, 960 // world * world, world)
    features, targets = (paddle.to_tensor(table[mine]) for table in rows(960))
    for epoch in range(args.epochs):
        for start in range(0, len(features), 32):
            batch = slice(start, start + 32)
            loss = paddle.nn.functional.mse_loss(model(features[batch]), targets[batch])
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        print(f"trainer {rank} of {world} epoch {epoch} loss {loss.item():.6f}", flush=True)

    output = os.environ.get("PADDLESPEC_OUTPUT")
    if rank == 0 and output:
        Path(output).mkdir(parents=True, exist_ok=True)
        paddle.save(line.state_dict(), str(Path(output) / "model.pdparams"))


if __name__ == "__main__":
    main()
