"""Fit a line with parameter servers, asynchronously: one program for servers and trainers."""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
import paddle
from paddle.distributed import fleet

WEIGHTS, BIAS = np.array([2.0, -3.0, 0.5], "float32"), np.float32(4.0)


def rows(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Generate the same rows on every trainer; load your data here."""
    features = np.random.default_rng(1).normal(size=(count, 3)).astype("float32")
    return features, features @ WEIGHTS + BIAS


def build() -> list[paddle.static.Variable]:
    """Define the model and its asynchronous training; return the inputs."""
    features = paddle.static.data("features", [None, 3], "float32")
    target = paddle.static.data("target", [None, 1], "float32")
    predicted = paddle.static.nn.fc(features, 1, weight_attr="weight", bias_attr="bias")
    cost = paddle.mean(paddle.nn.functional.square_error_cost(predicted, target))
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.02), strategy).minimize(cost)
    return [features, target]


def local(name: str) -> np.ndarray:
    """Read a parameter as this trainer last pulled it from the servers."""
    return np.array(paddle.static.global_scope().find_var(name).get_tensor()).ravel()


def train(epochs: int, inputs: list[paddle.static.Variable]) -> None:
    """Train on this trainer's share of the rows; the first trainer saves the model."""
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    fleet.init_worker()
    rank, world = fleet.worker_index(), fleet.worker_num()
    features, targets = rows(960)

    dataset = paddle.distributed.InMemoryDataset()
    dataset.init(batch_size=32, thread_num=1, use_var=inputs, pipe_command="cat")
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "part"
        with part.open("w") as file:  # a slot is its length followed by its values
            for row, target in zip(features[rank::world], targets[rank::world]):
                file.write(f"3 {' '.join(map(str, row))} 1 {target}\n")
        dataset.set_filelist([str(part)])
        dataset.load_into_memory()

    for epoch in range(epochs):
        # Only `train_from_dataset` sends gradients to the servers; `executor.run` does not.
        executor.train_from_dataset(paddle.static.default_main_program(), dataset)
        error = features @ local("weight") + local("bias") - targets
        print(f"trainer {rank} of {world} epoch {epoch} loss {np.mean(error**2):.6f}", flush=True)

    output = os.environ.get("PADDLESPEC_OUTPUT")
    if rank == 0 and output:
        Path(output).mkdir(parents=True, exist_ok=True)
        np.savez(Path(output) / "model.npz", weight=local("weight"), bias=local("bias"))
    fleet.stop_worker()


def main() -> None:
    """Serve or train, depending on the environment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    args = parser.parse_args()
    servers = os.environ.get("PADDLE_PSERVERS_IP_PORT_LIST")
    if not servers:
        raise SystemExit("no parameter servers; run this program with paddlespec")
    # Without a rendezvous, Paddle's barriers do nothing and early steps are lost.
    host, port = servers.split(",")[0].rsplit(":", 1)
    os.environ.setdefault("PADDLE_WITH_GLOO", "1")
    os.environ.setdefault("PADDLE_GLOO_RENDEZVOUS", "3")
    os.environ.setdefault("PADDLE_GLOO_HTTP_ENDPOINT", f"{host}:{int(port) + 1000}")

    paddle.enable_static()
    fleet.init(is_collective=False)
    inputs = build()
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()  # until stopped from outside
    else:
        train(args.epochs, inputs)


if __name__ == "__main__":
    main()
