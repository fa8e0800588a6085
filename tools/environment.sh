#!/usr/bin/env bash
# Usage: tools/environment.sh [VENV] [LOCK]
# Makes the virtual environment VENV with exactly what LOCK names, and this project in it (editable).
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${1:-.venv} lock=${2:-requirements.lock}

fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

find_python() { # the first that Airflow, Spark and this package support
    local python
    for python in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            [ -n "${PYTHON:-}" ] && echo "$python" || quicker "$python"
            return
        fi
    done
    fail "no Python 3.11, 3.12 or 3.13 found (looked for: ${PYTHON:-python3 python3.13 python3.12 python3.11}); name one: PYTHON=/path/to/python3.11 make ..."
}

# A Python that lies in a library of its own, as pyenv may build it, takes a sixth more time for all that it does than the
# same Python of the system, which does not.
quicker() {
    local python=$1 own
    own=/usr/bin/$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
    if in_library "$python" && [ -x "$own" ] && "$own" -c 'import ensurepip' 2>/dev/null && ! in_library "$own"; then
        python=$own
    fi
    echo "$python"
}

in_library() { "$1" -c 'import sys; sys.exit("libpython" not in open("/proc/self/maps").read())' 2>/dev/null; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

make_venv() {
    local python
    python=$(find_python)
    "$python" -m venv "$venv" >/dev/null 2>&1 && return
    # Debian keeps venv in a package of its own.
    if command -v apt-get >/dev/null && as_root true 2>/dev/null; then
        as_root apt-get update -qq </dev/null
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv </dev/null >/dev/null
    fi
    "$python" -m venv "$venv" || fail "$python can't make a virtual environment; on Debian or Ubuntu type: sudo apt-get install -y python3-venv"
}

# uv is some times faster; pip does the same when there is no uv for this machine.
install_uv() {
    mkdir -p "$venv/tmp"
    awk '/^[^ #]/ { keep = /^uv==/ } keep' "$lock" >"$venv/tmp/uv.lock"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$venv/tmp/uv.lock" 2>/dev/null
}

echo "making $venv from $lock (downloads some 700 MB the first time)" >&2
[ -x "$venv/bin/python" ] && "$venv/bin/python" -m pip --version >/dev/null 2>&1 || make_venv
rm -f "$venv/.ready"
if install_uv; then
    # The certificates that this machine trusts, as pip does: a proxy may have one of its own.
    installer=("$venv/bin/uv" pip install --quiet --system-certs --python "$venv/bin/python")
else
    echo "uv is not to be had here: going on with pip, which takes some minutes longer" >&2
    installer=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check)
fi
"${installer[@]}" --require-hashes --no-deps -r "$lock" # all that is to be there is in it
"${installer[@]}" --no-deps --no-build-isolation --editable .
# Airflow leaves a million objects that stay. By Python's own thresholds they are looked at time and again: a seventh of the
# time that its import takes, a quarter of that of tests with many keys. Below pytest, hundreds of processes import it.
rarer='import gc, os; "PYTEST_VERSION" in os.environ and gc.set_threshold(50_000, 20, 100)'
echo "$rarer" >"$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/rarer_garbage.pth"
touch "$venv/.ready"
