"""Names of the partitions of a table, which has no folders for them."""

from __future__ import annotations

from airflow_partitions.storage.layout.layout import Layout


class TableLayout(Layout):
    """A name for each key, as if it had a folder: ``date=2013-02-08/airport=EWR``.

    The columns of the table that hold the keys are read with its others.
    """

    in_frames = False
