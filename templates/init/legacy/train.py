"""Fit a line with the Paddle v2 API, for Python 2.7 in its images."""

import os

import paddle.v2 as paddle
from paddle.v2.dataset import uci_housing

TRAINER = int(os.environ.get("PADDLE_INIT_TRAINER_ID", "0"))
TRAINERS = int(os.environ.get("PADDLE_INIT_NUM_GRADIENT_SERVERS", "1"))
PASSES = int(os.environ.get("PADDLE_INIT_NUM_PASSES", "10"))
OUTPUT = os.environ.get("PADDLESPEC_OUTPUT")


def my_rows():
    """Yield the rows of this trainer; load your data here."""
    for number, row in enumerate(uci_housing.train()()):
        if number % TRAINERS == TRAINER:
            yield row


def main():
    """Train on this trainer's rows; the first trainer saves the model after every pass."""
    paddle.init(use_gpu=False, trainer_count=1)  # threads of this process, not trainers
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(13))
    predicted = paddle.layer.fc(input=x, size=1, act=paddle.activation.Linear())
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    cost = paddle.layer.square_error_cost(input=predicted, label=y)
    trainer = paddle.trainer.SGD(
        cost=cost,
        parameters=paddle.parameters.create(cost),
        update_equation=paddle.optimizer.Momentum(momentum=0),
        is_local="PADDLE_INIT_PSERVERS" not in os.environ,
    )

    def report(event):
        if isinstance(event, paddle.event.EndIteration) and event.batch_id % 100 == 0:
            print("pass %d batch %d cost %f" % (event.pass_id, event.batch_id, event.cost))
        if isinstance(event, paddle.event.EndPass) and TRAINER == 0 and OUTPUT:
            with open(os.path.join(OUTPUT, "params_pass_%d.tar" % event.pass_id), "wb") as file:
                trainer.save_parameter_to_tar(file)

    trainer.train(
        reader=paddle.batch(paddle.reader.shuffle(my_rows, buf_size=500), batch_size=2),
        feeding={"x": 0, "y": 1},
        event_handler=report,
        num_passes=PASSES,
    )


if __name__ == "__main__":
    main()
