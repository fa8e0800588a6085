"""The package's metadata as an Airflow provider."""

from __future__ import annotations

from typing import Any

#: What operators and the like belong to, in Airflow's lists.
INTEGRATION = "Asset partitions"


def get_provider_info() -> dict[str, Any]:
    """The provider's metadata, in the form Airflow's provider schema asks for."""
    from airflow_partitions import __version__

    return {
        "package-name": "airflow-partitions",
        "name": "Asset partitions",
        "description": "Partition-aware assets: one Dag run, one Spark job and one stored partition per key.",
        "versions": [__version__],
        "integrations": [
            {
                "integration-name": INTEGRATION,
                "external-doc-url": "https://cwiki.apache.org/confluence/display/AIRFLOW/AIP-76+Asset+Partitions",
                "how-to-guide": [f"docs/guides/{name}.md" for name in ("frames", "spark", "iceberg", "consuming")],
                "tags": ["software"],
            }
        ],
        "operators": _of_integration("authoring.tasks.operator", "authoring.tasks.publish", "spark.operator"),
        "sensors": _of_integration("authoring.arrival.sensor", "authoring.tasks.sensor"),
        "triggers": _of_integration(
            "authoring.arrival.trigger", "authoring.arrival.watcher", "authoring.tasks.trigger"
        ),
        # The plugin is an entry point: Airflow would warn of a second one that is named here.
        "db-managers": ["airflow_partitions.engine.database.manager.AssetPartitionsDBManager"],
        "cli": ["airflow_partitions.operate.cli.commands.get_commands"],
        "config": {
            "asset_partitions": {
                "description": "Settings of partition-aware assets.",
                "options": {
                    "max_sequence_length": {
                        "description": "The most values a PartitionBySequence may have; each is a Dag run per tick.",
                        "version_added": "0.1.0",
                        "type": "integer",
                        "example": None,
                        "default": "1000",
                    },
                    "limits": {
                        "description": "Limits that several assets share, a JSON object: how many runs of one value"
                        " of a dimension are at work at a time, by the names that limits= of an asset says.",
                        "version_added": "0.2.0",
                        "type": "string",
                        "example": '{"crm": 1, "warehouse": 4}',
                        "default": None,
                    },
                    "max_request_size": {
                        "description": "The most partitions that one request may be about.",
                        "version_added": "0.1.0",
                        "type": "integer",
                        "example": None,
                        "default": "100000",
                    },
                    "keep_requests": {
                        "description": "Days for which a request for partitions is kept after its end.",
                        "version_added": "0.1.0",
                        "type": "integer",
                        "example": None,
                        "default": "365",
                    },
                    "metrics_interval": {
                        "description": "Seconds between two reports of metrics by upkeep, where Airflow sends metrics;"
                        " 0 for none.",
                        "version_added": "0.1.0",
                        "type": "integer",
                        "example": None,
                        "default": "60",
                    },
                    "metrics_by_asset": {
                        "description": "Also send the numbers of partitions by state of each asset.",
                        "version_added": "0.1.0",
                        "type": "boolean",
                        "example": None,
                        "default": "False",
                    },
                },
            },
        },
    }


def _of_integration(*modules: str) -> list[dict[str, Any]]:
    names = [f"airflow_partitions.{module}" for module in modules]
    return [{"integration-name": INTEGRATION, "python-modules": names}]
