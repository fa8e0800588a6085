#!/usr/bin/env bash
# Usage: tools/newest_python.sh
# Prints the newest Python of this machine that the package supports, if it is newer than the oldest that it supports.
set -euo pipefail

for version in 3.13 3.12; do
    for python in "python$version" "$(pyenv prefix "$version" 2>/dev/null)/bin/python"; do
        if "$python" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2>/dev/null; then
            "$python" -c 'import sys; print(sys.executable)'
            exit
        fi
    done
done
