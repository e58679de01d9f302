"""Fit a line to house prices with data-parallel trainers.

Every trainer reads its own share of the rows. Paddle averages the gradients after each batch, so
all trainers hold the same model at every step. Who this trainer is comes from the environment
(PADDLE_TRAINER_ID, PADDLE_TRAINERS_NUM, ...); without it the script trains alone.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import paddle
import paddle.distributed as dist
from paddle.nn.functional import mse_loss

HERE = Path(__file__).resolve().parent


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE / "housing.csv")
    parser.add_argument(
        "--output", type=Path, default=Path(os.environ.get("PADDLESPEC_OUTPUT") or "output")
    )
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=20)
    parser.add_argument("--learning-rate", type=float, default=0.02)
    parser.add_argument("--pause", type=float, default=0, help="seconds to wait after each epoch")
    return parser.parse_args()


def load(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the features, scaled to mean 0 and deviation 1, and the prices in units of 100,000.

    All trainers scale by the statistics of the whole file. Scaled by its own share, the same house
    would be a different input on every trainer.
    """
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype="float32")
    features, prices = table[:, :-1], table[:, -1:]
    return (features - features.mean(0)) / features.std(0), prices / 100


def share(rows: np.ndarray, rank: int, world: int) -> np.ndarray:
    """Take every `world`-th row, the same number on each trainer.

    A trainer with one batch more than the others would wait for them forever.
    """
    return rows[: len(rows) // world * world][rank::world]


def join_the_others() -> None:
    """Connect to the other trainers: over gloo on CPUs, over NCCL on GPUs."""
    if not paddle.is_compiled_with_cuda():
        # The launcher says so by itself; started without it, Paddle would look for NCCL.
        os.environ.setdefault("PADDLE_DISTRI_BACKEND", "gloo")
    dist.init_parallel_env()


def train_epoch(
    model: paddle.nn.Layer,
    optimizer: paddle.optimizer.Optimizer,
    features: np.ndarray,
    prices: np.ndarray,
    batch_size: int,
) -> float:
    """Go through the rows once; return the mean loss."""
    losses = []
    for start in range(0, len(features), batch_size):
        batch = slice(start, start + batch_size)
        loss = mse_loss(model(paddle.to_tensor(features[batch])), paddle.to_tensor(prices[batch]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def main() -> None:
    """Train, report, and save the model once."""
    args = arguments()
    rank, world = dist.get_rank(), dist.get_world_size()
    if world > 1:
        join_the_others()

    # Each trainer starts from other weights on purpose: DataParallel gives all of them those of
    # trainer 0, and the equal weights printed at the end show that it did.
    paddle.seed(1 + rank)
    line = paddle.nn.Linear(4, 1)
    model = paddle.DataParallel(line) if world > 1 else line
    optimizer = paddle.optimizer.SGD(args.learning_rate, parameters=model.parameters())

    features, prices = load(args.data)
    my_features, my_prices = share(features, rank, world), share(prices, rank, world)
    print(f"trainer {rank} of {world}: {len(my_features)} of {len(features)} rows", flush=True)
    for epoch in range(args.epochs):
        loss = train_epoch(model, optimizer, my_features, my_prices, args.batch_size)
        print(f"trainer {rank} epoch {epoch} loss {loss:.5f}", flush=True)
        time.sleep(args.pause)

    weights = " ".join(f"{weight:.6f}" for weight in line.weight.numpy().ravel())
    print(f"trainer {rank} weights {weights} bias {line.bias.item():.6f}", flush=True)
    if rank == 0:
        args.output.mkdir(parents=True, exist_ok=True)
        paddle.save(line.state_dict(), str(args.output / "model.pdparams"))
        print(f"saved {args.output / 'model.pdparams'}", flush=True)


if __name__ == "__main__":
    main()
