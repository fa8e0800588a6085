"""The token of a server of this machine."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from airflow_partitions.core.errors import DeniedError
from airflow_partitions.spark.server.token import token_of


def test_a_token_is_made_once_also_by_many_at_the_same_time(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        tokens = set(pool.map(token_of, [tmp_path / "keys" / "token"] * 32))
    (token,) = tokens
    assert len(token) >= 32
    assert [file.name for file in (tmp_path / "keys").iterdir()] == ["token"]
    assert (tmp_path / "keys" / "token").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "\n", "secret"])
def test_eb6_a_token_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(DeniedError, match="delete the file, and a new one is made"):
        token_of(file)


def test_eb6_a_process_that_dies_meanwhile_leaves_no_part_of_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(os, "link", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            token_of(tmp_path / "token")
    assert list(tmp_path.iterdir()) == []
    assert len(token_of(tmp_path / "token")) >= 32


def test_a_token_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("x" * 43)
    file.chmod(0o644)
    with pytest.raises(DeniedError, match="mode 644"):
        token_of(file)
