#!/usr/bin/env bash
# Usage: CHROMIUM=$(tools/chromium.sh)
# Prints the path of Chromium, in which the tests look at the partitions view. Where there is none it is installed, if
# this is a machine with apt-get and we may; else the one command to type is told. The headless shell, which is the same
# browser without what windows need, does a test in a tenth less processor time.
set -euo pipefail

find_chromium() {
    local program
    for program in "${CHROMIUM:-}" chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do
        if [ -n "$program" ] && command -v "$program"; then
            return
        fi
    done
    return 1
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

install_package() { as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" </dev/null >&2; }

install_chromium() {
    command -v apt-get >/dev/null && as_root true 2>/dev/null || return 1
    echo "no Chromium here: installing it with apt-get" >&2
    as_root apt-get update -qq </dev/null >&2
    install_package chromium-headless-shell || install_package chromium # Ubuntu's leads to its store of snaps
}

command_to_type() {
    if command -v apt-get >/dev/null; then
        echo "sudo apt-get install -y chromium"
    elif command -v dnf >/dev/null; then
        echo "sudo dnf install -y chromium"
    elif command -v brew >/dev/null; then
        echo "brew install --cask chromium"
    else
        echo "CHROMIUM=/path/to/chromium make ..."
    fi
}

find_chromium || { install_chromium && find_chromium; } || {
    printf 'error: the tests need Chromium and none was found. Type this, then try again:\n\n    %s\n\n' "$(command_to_type)" >&2
    exit 1
}
