#!/usr/bin/env bash
# Usage: tools/lock_for.sh newest|pre-release|lowest LOCK
# Writes the versions for an environment other than that of requirements.lock, with the uv that is on the path.
set -euo pipefail
cd "$(dirname "$0")/.."
which=$1 lock=$2

newest() { echo apache-airflow | uv --system-certs pip compile - --python-version 3.11 --no-deps --no-header --no-annotate --quiet "$@" | sed 's/.*==//'; }
compile() {
    uv --system-certs pip compile pyproject.toml --all-extras --group demo --group docs --group test --python-version 3.11 \
      --generate-hashes --quiet --output-file "$lock" "$@"
}

case $which in
    newest) compile --upgrade ;;
    pre-release)
        # Of Airflow alone: others have pre-releases, too.
        compile --upgrade --override <(echo "apache-airflow==$(newest --prerelease allow)") ;;
    lowest)
        # The bounds are those of a wheel; Airflow is that of the lock, whose own bounds are Airflow's affair.
        locked=$(sed -n 's/^apache-airflow==\([^ ]*\).*/\1/p' requirements.lock)
        compile --upgrade --resolution lowest-direct --constraint <(echo "apache-airflow==$locked") ;;
    *) echo "error: no versions are called $which; expected newest, pre-release or lowest" >&2; exit 2 ;;
esac
echo "$lock: Airflow $(sed -n 's/^apache-airflow==\([^ ]*\).*/\1/p' "$lock")" >&2
