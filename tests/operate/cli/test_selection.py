"""Where a selection may stand among the arguments of a command."""

from __future__ import annotations

from argparse import Namespace

import pytest
from airflow.cli.cli_parser import get_parser


def parsed(*words: str) -> Namespace:
    return get_parser().parse_args(["asset-partitions", *words])


@pytest.mark.parametrize(
    "words",
    [
        "status days 2013-02 2013-03 --only missing --only failed",
        "status days --only missing 2013-02 --only failed 2013-03",
        "status --only missing --only failed days 2013-02 2013-03",
    ],
)
def test_it_may_come_before_between_and_after_options(words: str) -> None:
    args = parsed(*words.split())
    assert (args.asset, args.select, args.states) == ("days", ["2013-02", "2013-03"], ["missing", "failed"])


def test_none_is_none_for_each_call() -> None:
    for _ in range(2):
        assert parsed("status", "days", "--only", "missing").select == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("status --only missing", "the following arguments are required: asset"),
        ("status days --onyl missing 2013-03", "unrecognized arguments: --onyl"),
        ("status days --only lost", "invalid choice: 'lost'"),
    ],
)
def test_what_is_wrong_is_told_as_before(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(*words.split())
    assert message in capsys.readouterr().err
