"""Which assets a question is about that is about many."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from airflow_partitions.operate.contract.fields import Text
from airflow_partitions.operate.contract.operation import Given


class AssetSelection(Given):
    """Leaves of the assets that one may read those that each of these fits; all of them without any."""

    asset: Annotated[list[Text] | None, Field(description="Only these assets")] = None
    search: Annotated[
        Text | None, Field(description="Only those with this in their names, in capitals or not", examples=["flights"])
    ] = None
    tag: Annotated[Text | None, Field(description="Only those of whose Dags one has this tag")] = None
    owner: Annotated[Text | None, Field(description="Only those of whose Dags one has this owner")] = None
    group: Annotated[Text | None, Field(description="Only those of this group of Airflow's")] = None
    dag: Annotated[
        Text | None, Field(description="Only those that this Dag makes or waits for, and those made of what it makes")
    ] = None
