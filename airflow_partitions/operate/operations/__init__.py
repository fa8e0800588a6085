"""What comes of each operation: a function for each, called as it, in a module called as that of its contract.

An answer that may be long comes in pages: it has the ``cursor`` from which the next page goes on, ``None`` at the end.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.operation import Operation


def answer(asked: Operation, asker: Asker | None = None) -> Any:
    """What comes of an operation that is *asked* for, as JSON; ``None`` if the asker has seen it.

    :param asker: who asks; by default the user of this process, who may do all.
    :raises PartitionError: if it is refused.
    """
    module = import_module(f"{__name__}.{type(asked).__module__.rpartition('.')[2]}")
    return getattr(module, asked.called())(asked, asker or Asker())
