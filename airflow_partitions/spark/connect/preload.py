"""Load the client of Spark Connect once for all tasks, in a process that forks them.

To be imported by ``airflow_local_settings.py``. The scheduler forks the workers of the LocalExecutor, Celery's worker
those of its pool, and these a process for each task; other processes of Airflow run no tasks, and load nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module

_FORKING = (["scheduler"], ["celery", "worker"])  # words after `airflow`

if any(sys.argv[1 : 1 + len(words)] == words for words in _FORKING):
    import_module("pyspark.sql.connect.session")  # connects to nothing: a channel would not outlive the fork
