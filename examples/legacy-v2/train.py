# ruff: noqa: ANN001, ANN201, ANN202, UP031
"""Fit a line to the UCI housing data with the Paddle v2 API.

Written for Python 2.7, the only one that the images of the time have. `paddle.init` reads the
cluster's settings (PADDLE_INIT_PSERVERS, PADDLE_INIT_TRAINER_ID, ...) from the environment; what
the program passes to it wins over them. Without them the program trains alone.
"""

import os

import paddle.v2 as paddle
from paddle.v2.dataset import uci_housing

TRAINER = int(os.environ.get("PADDLE_INIT_TRAINER_ID", "0"))
TRAINERS = int(os.environ.get("PADDLE_INIT_NUM_GRADIENT_SERVERS", "1"))
PASSES = int(os.environ.get("PADDLE_INIT_NUM_PASSES", "10"))
OUTPUT = os.environ.get("PADDLESPEC_OUTPUT", "output")

FEEDING = {"x": 0, "y": 1}


def my_rows():
    """Yield every TRAINERS-th row: the share of this trainer."""
    for number, row in enumerate(uci_housing.train()()):
        if number % TRAINERS == TRAINER:
            yield row


def network():
    """Describe the model; return its cost."""
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(13))
    y_predict = paddle.layer.fc(input=x, size=1, act=paddle.activation.Linear())
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    return paddle.layer.square_error_cost(input=y_predict, label=y)


def main():
    """Train on this trainer's rows; the first trainer saves the model after every pass."""
    # Here `trainer_count` is the number of threads of this process, not the number of trainers.
    paddle.init(use_gpu=False, trainer_count=1)
    cost = network()
    trainer = paddle.trainer.SGD(
        cost=cost,
        parameters=paddle.parameters.create(cost),
        update_equation=paddle.optimizer.Momentum(momentum=0),
        is_local="PADDLE_INIT_PSERVERS" not in os.environ,
    )

    def event_handler(event):
        if isinstance(event, paddle.event.EndIteration) and event.batch_id % 100 == 0:
            print("Pass %d, Batch %d, Cost %f" % (event.pass_id, event.batch_id, event.cost))
        if isinstance(event, paddle.event.EndPass):
            test = paddle.batch(uci_housing.test(), batch_size=2)
            result = trainer.test(reader=test, feeding=FEEDING)
            print("Test %d, Cost %f" % (event.pass_id, result.cost))
            if TRAINER == 0:
                with open(os.path.join(OUTPUT, "params_pass_%d.tar" % event.pass_id), "wb") as f:
                    trainer.save_parameter_to_tar(f)

    if TRAINER == 0 and not os.path.isdir(OUTPUT):
        os.makedirs(OUTPUT)
    trainer.train(
        reader=paddle.batch(paddle.reader.shuffle(my_rows, buf_size=500), batch_size=2),
        feeding=FEEDING,
        event_handler=event_handler,
        num_passes=PASSES,
    )


if __name__ == "__main__":
    main()
