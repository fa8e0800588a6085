#!/usr/bin/env bash
# Usage: tools/view.sh
# Makes the bundle of the partitions view from its sources, with the Node of the environment that is on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
python tools/openapi.py airflow_partitions/view/www/openapi.json
tools/node_modules.sh
cd airflow_partitions/view/www
npm run schema
npm run check
npm test
npm run build
