"""The lines that show why a program failed, and the noise around them."""

from __future__ import annotations

import pytest

from paddlespec.backends.local.supervisor import verdict
from paddlespec.logs.failure import Rank, failed_rank, failure
from paddlespec.logs.line import Line, Source
from paddlespec.logs.noise import Folded, is_noise
from paddlespec.logs.show import Style, Text

LIBRARY = '  File "/usr/lib/python3.11/site-packages/paddle/x.py", line 3, in clone'
TRAINER = Source("trainers", 0, "a-trainer-0")
OTHER = Source("trainers", 1, "a-trainer-1")


def shown(text: str, most: int = 10) -> list[str]:
    return failure(text.strip("\n").split("\n"), most)


def test_an_exception_follows_the_frame_of_the_users_code() -> None:
    ir = "\n".join(f"(%{number}) = pd_op.full ()" for number in range(200))
    text = f"""
epoch 1
Traceback (most recent call last):
  File "/workspace/train.py", line 4, in <module>
    main()
  File "/workspace/train.py", line 9, in main
    model.clone()
{LIBRARY}
    return self._clone()
TypeError: clone(): incompatible function arguments.
{ir}
LAUNCH INFO 2026-11-22 14:02:00,929 Exit code -15
"""
    lines = shown(text)
    assert lines[:4] == [
        '  File "/workspace/train.py", line 9, in main',
        "    model.clone()",
        "TypeError: clone(): incompatible function arguments.",
        "(%0) = pd_op.full ()",
    ]
    assert len(lines) == 10


def test_the_last_of_several_exceptions_counts_unless_python_ignores_it() -> None:
    text = """
Traceback (most recent call last):
  File "a.py", line 1
KeyError: 1

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 2
ValueError: 2
Exception ignored in: <function Pool.__del__>
Traceback (most recent call last):
  File "a.py", line 3
AttributeError: 3
"""
    assert shown(text)[:2] == ['  File "a.py", line 2', "ValueError: 2"]


def test_a_crash_begins_at_the_summary_of_paddle() -> None:
    text = """
Traceback (most recent call last):
  File "a.py", line 1
--------------------------------------
C++ Traceback (most recent call last):
--------------------------------------
0   paddle::framework::Executor::Run
----------------------
Error Message Summary:
----------------------
FatalError: `Segmentation fault` is detected by the operating system.
  [SignalInfo: *** SIGSEGV (@0x0) ***]
"""
    assert shown(text) == [
        "FatalError: `Segmentation fault` is detected by the operating system.",
        "  [SignalInfo: *** SIGSEGV (@0x0) ***]",
    ]


@pytest.mark.parametrize(
    "text",
    ["a\nTraceback (most recent call last):", "a\nError Message Summary:\n----------", "a\nb"],
)
def test_without_an_exception_the_last_lines_are_shown(text: str) -> None:
    assert shown(text)[0] == "a"
    assert shown("LAUNCH INFO x\nb\nLAUNCH INFO y") == ["b"]
    assert shown("LAUNCH INFO x") == ["LAUNCH INFO x"]


def test_the_rank_that_the_launcher_blames_is_named() -> None:
    tail = (
        b"LAUNCH ERROR 2026 Container failed !!!\n"
        b"Container rank 1 status failed cmd ['python', '-u', 'a.py'] code 1 log /x/workerlog.1\n"
        b"Traceback (most recent call last):\n"
        b'  File "a.py", line 7, in <module>\n    raise ValueError("unhappy")\n'
        b"ValueError: unhappy\nLAUNCH INFO 2026-11-22 14:02:00,929 Exit code -15\n"
    )
    culprit = verdict.culprit([verdict.End("fit-trainer-0", 241, 1.0, tail)])
    assert culprit is not None
    assert culprit.ending == "exit code 241 (rank 1 failed with exit code 1)"
    assert culprit.lines[-1] == "ValueError: unhappy"
    killed = "Container rank 3 status failed cmd ['a'] code -9 log /x/workerlog.3"
    assert failed_rank([killed, "x"]) == Rank(3, 137)
    assert failed_rank(["x"]) is None


# Noise


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"LAUNCH INFO 2026-11-22 14:01:47,393 nnodes: 1", True),
        (b"LAUNCH INFO 2026-11-22 14:01:47,393 Waiting peer start...", False),
        (b"LAUNCH ERROR 2026-11-22 14:02:00,529 Container failed !!!", False),
        (b"LAUNCH WARNING args nnodes will be overridden by env: PADDLE_NNODES value: 1", True),
        (b"LAUNCH WARNING something else", False),
        (b"  warnings.warn(warning_message)", True),
        (b"  warnings.warn(mine)", False),
        (b"I1122 13:41:01.590390  2124 brpc_ps_client.cc:684] flush begin", True),
        (b"W1122 13:41:01.590390  2124 brpc_ps_client.cc:684] slow", False),
        (b"[2026-11-22 13:40:55,000] [    INFO] distributed_strategy.py:3 - initialized", True),
        (b"======================= Modified FLAGS detected =======================", True),
        (b"FLAGS(name='FLAGS_enable_pir_in_executor', current_value=True)", True),
        (b"=" * 71, True),
        (b"=" * 40, False),
        (b"epoch 3 loss 0.1", False),
        (b"", False),
    ],
)
def test_noise_is_told_from_output(line: bytes, expected: bool) -> None:
    assert is_noise(line) is expected


def line(text: bytes, source: Source = TRAINER, *, ended: bool = True) -> Line:
    return Line(b"", source, text, b"", ended)


def test_noise_is_hidden_and_counted_even_in_pieces() -> None:
    form = Folded(Text([TRAINER, OTHER], Style()), "to print all: paddlespec logs fit")
    assert form.of([line(b"LAUNCH INFO a"), line(b"loss 1")]) == b"trainer-0 | loss 1\n"
    assert form.of([line(b"LAUNCH INFO b", ended=False)]) == b""
    assert form.of([line(b"loss 2", OTHER), line(b"rest of b")]) == b"trainer-1 | loss 2\n"
    assert form.end() == (
        b"(2 lines of Paddle's launcher and libraries hidden; to print all: paddlespec logs fit)\n"
    )
    assert Folded(Text([TRAINER], Style()), "").end() == b""
