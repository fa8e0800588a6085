"""Dags whose tasks add the keys that a test asks for."""

from __future__ import annotations

import json
from typing import Any

import attrs

from tests.scheduler.conftest import Airflow

#: A Dag file whose adding tasks do what the test writes down for them.
ADDS = """
    import json

    def do(definition, name):
        request = json.loads((OUT / f"{name}.request").read_text())
        for key, metadata in request.get("add", []):
            definition.add_partition(key, metadata)
        for key in request.get("once", []):
            definition.add_partition(key, once=True)
        for key in request.get("remove", []):
            definition.remove_partition(key)
        (OUT / f"{name}.keys").write_text(json.dumps(definition.partitions()))
        if request.get("fail"):
            raise ValueError("after adding")

    def note(name, partition):
        past = [p.text for p in partition.iter_past_partitions()]
        before = partition.previous
        values = [repr(partition.key), partition.metadata, past, None if before is None else before.metadata]
        (OUT / f"{name}-{partition}").write_text(json.dumps(values))
"""


def note(airflow: Airflow, name: str) -> Any:
    """What a consumer noted."""
    return json.loads((airflow.out / name).read_text())


@attrs.frozen
class Adder:
    """A Dag that does what a test asks for: ``add``, ``once``, ``remove`` keys, or ``fail`` after that."""

    airflow: Airflow
    dag_id: str

    @classmethod
    def alone(cls, airflow: Airflow, name: str) -> Adder:
        """With nobody who waits for its keys; it may also be as if a run was ``killed`` that added a key."""
        airflow.write(
            name,
            ADDS
            + f"""
    keys = PartitionAtRuntime(name="{name}_keys")

    @asset(schedule=None, partition=keys)
    def {name}(self):
        from airflow_partitions.engine.ledger.added_keys import AddingRun
        from airflow_partitions.engine.runs.key_list import has_event, read, write
        do(keys, self.name)
        if killed := json.loads((OUT / f"{{self.name}}.request").read_text()).get("killed"):
            run = AddingRun(self.name, self.name, "manual__killed", dt.datetime.now(dt.UTC))
            write(keys, read(keys).settled(has_event).with_pending({{killed: None}}, run))
    """,
        )
        return cls(airflow, name)

    def prepare(self, **request: Any) -> None:
        """Let the next runs do what *request* says."""
        (self.airflow.out / f"{self.dag_id}.request").write_text(json.dumps(request))

    def run(self, **request: Any) -> tuple[str, list[Any] | None]:
        """Make one run: its state and the keys that its task saw after it; ``None`` if it did not come so far."""
        self.prepare(**request)
        keys = self.airflow.out / f"{self.dag_id}.keys"
        keys.unlink(missing_ok=True)
        count = len(self.airflow.runs(self.dag_id))
        assert self.airflow.trigger(self.dag_id, None).status_code == 200
        state = self.airflow.wait_finished(self.dag_id, count + 1)[count][1]
        return state, json.loads(keys.read_text()) if keys.exists() else None

    @property
    def events(self) -> list[str]:
        return self.airflow.events(self.dag_id)
