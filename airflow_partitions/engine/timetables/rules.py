"""Rules in serialized Dags. An Airflow plugin registers those of users, so that the scheduler has them too.

.. code-block:: python

    class MyRules(AirflowPlugin):
        name = "my_rules"

        @classmethod
        def on_load(cls, *args, **kwargs):
            register_rules(LastWorkingDay)
"""

from __future__ import annotations

from typing import Any

from airflow_partitions.core.dependencies import Rule, rule_from_json
from airflow_partitions.core.errors import InvalidDefinitionError

_REGISTERED: dict[str, type[Rule]] = {}


def register_rules(*rules: type[Rule]) -> None:
    """Make rules of your own known, from the ``on_load`` of an Airflow plugin.

    :raises InvalidDefinitionError: for anything but subclasses of :class:`~airflow_partitions.core.dependencies.Rule`.
    """
    for rule in rules:
        if not (isinstance(rule, type) and issubclass(rule, Rule)):
            raise InvalidDefinitionError(f"{rule!r} is not a rule; expected a subclass of airflow_partitions.Rule")
        _REGISTERED[f"{rule.__module__}:{rule.__qualname__}"] = rule


def read_rule(form: dict[str, Any]) -> Rule:
    """The rule behind a JSON *form*.

    :raises InvalidDefinitionError: for a user's rule that no plugin registers.
    """
    from airflow.plugins_manager import ensure_plugins_loaded

    ensure_plugins_loaded()
    return rule_from_json(form, _REGISTERED)


def write_rule(rule: Rule) -> dict[str, Any]:
    """JSON form of *rule*, checked to be readable by the scheduler.

    :raises InvalidDefinitionError: for a user's rule that no plugin registers.
    """
    form = rule.to_json()
    read_rule(form)
    return form
