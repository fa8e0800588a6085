"""The OpenAPI document against the live server: whatever one sends, the answer is documented, and no server error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from airflow_partitions.operate.rest.app import create_app
from tests.hunt import HUNT
from tests.metadata import Metadata
from tests.operate.rest.auth_manager import editor
from tests.operate.rest.conftest import PREFIX, Server, ask_for

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.parametrize(
        "engine", ["postgresql"], indirect=True, scope="module"
    ),  # the stricter one: it takes no NUL
    # The server works in a thread of this process, and may ask for a random number while an example is made up.
    pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies"),
]

DOCUMENT = schemathesis.openapi.from_dict(create_app().openapi())
#: Names that are there, among those that schemathesis makes up.
REAL = {"asset": ["days", "airport_days", "customers", "s3://lake/hours"], "key": ["2013-03-01", "2013-03-01|JFK"]}
#: What JSON can say, or its readers take for JSON, and no database can hold.
UNSTORABLE = [r'"\ud800"', r'"a\u0000"', "NaN", "-Infinity", "1e999", r'{"\ud800": 1}', r'[{"a": ["\u0000"]}]']
#: Whether a text is a key is said by the definition of the asset, not by the form of a request.
NOT_BY_THE_FORM = schemathesis.checks.CHECKS.get_one("positive_data_acceptance")
QUICK = settings(
    max_examples=12 * HUNT,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("route", [each.ok().label for each in DOCUMENT.get_all_operations()])
def test_every_answer_is_documented_and_none_is_a_server_error(server: Server, estate: Metadata, route: str) -> None:
    operation = next(each.ok() for each in DOCUMENT.get_all_operations() if each.ok().label == route)
    real = {**REAL, "request": [ask_for("2013-02-01")]}
    with server.client(editor()) as client:
        base = str(client.base_url).removesuffix(f"{PREFIX}/")
        headers = {"Authorization": client.headers["Authorization"]}

    @QUICK
    @given(
        case=operation.as_strategy(),
        names=st.fixed_dictionaries({n: st.sampled_from(v) for n, v in real.items()}),
        use=st.booleans(),
    )
    def answers(case: schemathesis.Case, names: dict[str, str | int], use: bool) -> None:
        if use:
            case.path_parameters.update({n: v for n, v in names.items() if n in case.path_parameters})
        case.call_and_validate(base_url=f"{base}/asset-partitions", headers=headers, excluded_checks=[NOT_BY_THE_FORM])

    answers()


def body_fields() -> Iterator[tuple[str, str]]:
    """Each field of each body, with the path of its route."""
    document = create_app().openapi()
    for path, item in document["paths"].items():
        if (body := item.get("post", {}).get("requestBody")) is not None:
            schema = body["content"]["application/json"]["schema"]
            (name,) = (part["$ref"].rpartition("/")[2] for part in schema.get("anyOf", [schema]) if "$ref" in part)
            for field in document["components"]["schemas"][name]["properties"]:
                yield path.removeprefix("/api/v1/"), field


@pytest.mark.parametrize(("path", "field"), list(body_fields()))
def test_eo1_what_can_not_be_stored_is_refused_at_each_field(
    server: Server, estate: Metadata, path: str, field: str
) -> None:
    with server.client(editor()) as client:
        route = path.format(asset="days", request=ask_for("2013-02-01"))
        for value in UNSTORABLE:
            body, kind = f'{{"{field}": {value}}}', {"Content-Type": "application/json"}
            answer = client.post(route, content=body, headers=kind)
            assert answer.status_code == 422, (value, answer.text)
            mistakes = [mistake["field"] for mistake in answer.json()["mistakes"]]
            assert any(f"{name}.".startswith(f"body.{field}.") for name in mistakes), (value, mistakes)
