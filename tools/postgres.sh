#!/usr/bin/env bash
# Usage: PATH=$(tools/postgres.sh):$PATH
# Prints the folder of PostgreSQL's programs (initdb, pg_ctl), 13 or newer, as Airflow wants it. Where there is none it
# is installed, if this is a machine with apt-get and we may; else the one command to type is told. No server is started.
set -euo pipefail

version_of() { "$1/postgres" --version 2>/dev/null | sed -n 's/.* \([0-9]*\).*/\1/p'; }

fits() { [ -x "$1/initdb" ] && [ -x "$1/pg_ctl" ] && [ "$(version_of "$1")" -ge 13 ] 2>/dev/null; }

folder_on_path() {
    local program
    program=$(command -v postgres) || return 0
    program=$(readlink -f "$program" 2>/dev/null || echo "$program")
    echo "${program%/postgres}"
}

find_postgres() {
    local folder
    for folder in "$(folder_on_path)" /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql@*/bin \
        /usr/local/opt/postgresql@*/bin; do
        if fits "$folder"; then
            echo "$folder"
            return
        fi
    done
    return 1
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

install_postgres() {
    command -v apt-get >/dev/null && as_root true 2>/dev/null || return 1
    echo "no PostgreSQL here: installing it with apt-get" >&2
    # Debian would make a cluster and keep it running on the usual port; this file, while it is there, says not to.
    local folder=/etc/postgresql-common/createcluster.d
    as_root mkdir -p "$folder"
    echo 'create_main_cluster = false' | as_root tee "$folder/airflow-partitions.conf" >/dev/null
    trap 'as_root rm -f /etc/postgresql-common/createcluster.d/airflow-partitions.conf' EXIT
    as_root apt-get update -qq </dev/null >&2
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql </dev/null >&2
}

command_to_type() {
    if command -v apt-get >/dev/null; then
        echo "sudo apt-get install -y postgresql"
    elif command -v dnf >/dev/null; then
        echo "sudo dnf install -y postgresql-server"
    elif command -v brew >/dev/null; then
        echo "brew install postgresql@17"
    else
        echo "PATH=/path/to/postgresql/bin:\$PATH make ..."
    fi
}

find_postgres || { install_postgres && find_postgres; } || {
    printf 'error: the tests need PostgreSQL 13 or newer and none was found. Type this, then try again:\n\n    %s\n\n' "$(command_to_type)" >&2
    exit 1
}
