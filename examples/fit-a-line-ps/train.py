"""Fit a line to house prices with parameter servers, asynchronously.

The same program is the server and the trainer: TRAINING_ROLE says which. Every trainer reads its
own share of the rows, pushes gradients to the servers and pulls the shared weights back, without
waiting for the other trainers.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import paddle
from paddle.distributed import fleet

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
    # Rooms and area say nearly the same about a house: a larger step zig-zags between the two.
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--pause", type=float, default=0, help="seconds to wait after each epoch")
    return parser.parse_args()


def load(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the features, scaled to mean 0 and deviation 1, and the prices in units of 100,000.

    All trainers scale by the statistics of the whole file. Scaled by its own share, the same house
    would be a different input on every trainer.
    """
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype="float32")
    features, prices = table[:, :-1], table[:, -1]
    return (features - features.mean(0)) / features.std(0), prices / 100


def write_slots(path: Path, features: np.ndarray, prices: np.ndarray) -> None:
    """Write rows as Paddle's datasets read them: each slot is its length, then its values."""
    with path.open("w") as file:
        for row, price in zip(features, prices):
            values = " ".join(f"{value:.6f}" for value in row)
            file.write(f"{len(row)} {values} 1 {price:.6f}\n")


def meet_at(server: str) -> None:
    """Let the trainers begin together and end together, by a meeting point at the first server.

    Without one Paddle's barriers do nothing. A trainer that is a moment early would learn from
    weights that trainer 0 has still to set, and lose it all when trainer 0 sets them.
    """
    host, port = server.rsplit(":", 1)
    os.environ.setdefault("PADDLE_WITH_GLOO", "1")
    os.environ.setdefault("PADDLE_GLOO_RENDEZVOUS", "3")  # by HTTP
    os.environ.setdefault("PADDLE_GLOO_HTTP_ENDPOINT", f"{host}:{int(port) + 1000}")


def build(learning_rate: float) -> list[paddle.static.Variable]:
    """Describe the model and its asynchronous training; return the two inputs."""
    features = paddle.static.data("features", [None, 4], "float32")
    price = paddle.static.data("price", [None, 1], "float32")
    predicted = paddle.static.nn.fc(features, 1, weight_attr="weight", bias_attr="bias")
    cost = paddle.mean(paddle.nn.functional.square_error_cost(predicted, price))
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    fleet.distributed_optimizer(paddle.optimizer.SGD(learning_rate), strategy).minimize(cost)
    return [features, price]


def local(name: str) -> np.ndarray:
    """Read a parameter as this trainer last pulled it from the servers."""
    return np.array(paddle.static.global_scope().find_var(name).get_tensor()).ravel()


def loss(features: np.ndarray, prices: np.ndarray) -> float:
    """Measure the model on all rows.

    In NumPy, because a test program run between two epochs crashes the trainer.
    """
    error = features @ local("weight") + local("bias") - prices
    return float(np.mean(error**2))


def pull_newest(executor: paddle.static.Executor) -> None:
    """Give the first trainer the weights as the servers hold them now.

    An epoch pulls when it begins, so its own gradients are not in the weights that a trainer holds
    at its end. The one public call that pulls again is this one, in which all trainers take part;
    the file that it writes is not needed.
    """
    with tempfile.TemporaryDirectory() as folder:
        fleet.save_dense_params(
            executor,
            str(Path(folder) / "dense"),
            paddle.static.global_scope(),
            paddle.static.default_main_program(),
        )


def serve() -> None:
    """Hold the parameters until stopped from outside: the trainers' end does not end a server."""
    fleet.init_server()
    print(f"pserver {fleet.server_index()} of {fleet.server_num()}: serving", flush=True)
    fleet.run_server()


def train(args: argparse.Namespace, inputs: list[paddle.static.Variable]) -> None:
    """Train on this trainer's share of the rows; the first trainer saves the model."""
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    fleet.init_worker()
    rank, world = fleet.worker_index(), fleet.worker_num()
    features, prices = load(args.data)

    dataset = paddle.distributed.InMemoryDataset()
    # `cat` is the command that turns a file into slots; these are slots already.
    dataset.init(batch_size=args.batch_size, thread_num=1, use_var=inputs, pipe_command="cat")
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / f"part-{rank}"
        write_slots(part, features[rank::world], prices[rank::world])
        dataset.set_filelist([str(part)])
        dataset.load_into_memory()
    rows = dataset.get_memory_data_size()
    print(f"trainer {rank} of {world}: {rows} of {len(features)} rows", flush=True)

    for epoch in range(args.epochs):
        # Only this loop sends gradients to the servers. With `executor.run`, batch by batch, the
        # program would end just as well and learn nothing.
        executor.train_from_dataset(paddle.static.default_main_program(), dataset)
        print(f"trainer {rank} epoch {epoch} loss {loss(features, prices):.5f}", flush=True)
        time.sleep(args.pause)

    pull_newest(executor)
    weight, bias = local("weight"), local("bias")
    values = " ".join(f"{value:.6f}" for value in weight)
    print(f"trainer {rank} weights {values} bias {bias[0]:.6f}", flush=True)
    if fleet.is_first_worker():
        args.output.mkdir(parents=True, exist_ok=True)
        np.savez(args.output / "model.npz", weight=weight, bias=bias)
        print(f"saved {args.output / 'model.npz'}: loss {loss(features, prices):.5f}", flush=True)
    fleet.stop_worker()


def main() -> None:
    """Serve or train, as the environment says."""
    args = arguments()
    servers = os.environ.get("PADDLE_PSERVERS_IP_PORT_LIST")
    if not servers:
        # Paddle would take a missing list for a job of one trainer, and say nothing.
        raise SystemExit("PADDLE_PSERVERS_IP_PORT_LIST is not set: there are no parameter servers")
    meet_at(servers.split(",")[0])
    paddle.enable_static()
    paddle.seed(1)
    fleet.init(is_collective=False)
    inputs = build(args.learning_rate)
    if fleet.is_server():
        serve()
    else:
        train(args, inputs)


if __name__ == "__main__":
    main()
