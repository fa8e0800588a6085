"""What the page about our tables says is so: their names, columns, and questions."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, text

from airflow_partitions.engine.database.models import Base
from airflow_partitions.engine.database.revision import COMMAND, VERSION_TABLE, problem
from tests.docs.pages import ROOT, Block, blocks, tables

PAGE = ROOT / "docs/operate/tables.md"


def test_every_table_is_on_the_page_and_no_other() -> None:
    names = [name for (name,), *_ in tables(PAGE, "Table", "A row is", "Columns")]
    assert sorted(names) == sorted([*Base.metadata.tables, VERSION_TABLE])


def test_the_columns_on_the_page_are_there() -> None:
    for (name,), _, columns in tables(PAGE, "Table", "A row is", "Columns"):
        if name != VERSION_TABLE:
            known = {*Base.metadata.tables[name].columns.keys(), "asset"}  # Airflow's table
            assert set(columns) <= known, name


def test_the_sentence_on_the_page_is_the_one_that_is_said() -> None:
    assert f"{problem(None)}\n" in [block.text for block in blocks("text") if block.page == PAGE.name]
    assert COMMAND in PAGE.read_text()


@pytest.mark.parametrize("block", [each for each in blocks("sql") if "asset_partitions_" in each.text], ids=str)
def test_the_questions_are_answered(block: Block) -> None:
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with engine.connect() as at:
        assert at.execute(text(block.text)).all() == []
    engine.dispose()
