#!/usr/bin/env bash
# Usage: JAVA_HOME=$(tools/java.sh)
# Prints the home of a Java that Spark 4.1 runs on (17 or 21). Where there is none it is installed, if this is
# a machine with apt-get and we may; else the one command to type is told.
set -euo pipefail

version_of() { "$1/bin/java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1; }

fits() {
    [ -n "$1" ] && [ -x "$1/bin/java" ] || return 1
    case "$(version_of "$1")" in 17 | 21) return 0 ;; *) return 1 ;; esac
}

home_on_path() {
    local java
    java=$(command -v java) || return 0
    java=$(readlink -f "$java" 2>/dev/null || echo "$java")
    echo "${java%/bin/java}"
}

find_java() {
    local home
    for home in "${JAVA_HOME:-}" "$(home_on_path)" /usr/lib/jvm/*17* /usr/lib/jvm/*21* \
        /opt/homebrew/opt/openjdk@17 /usr/local/opt/openjdk@17; do
        if fits "$home"; then
            echo "$home"
            return
        fi
    done
    return 1
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

install_java() {
    command -v apt-get >/dev/null && as_root true 2>/dev/null || return 1
    echo "no Java 17 or 21 here: installing one with apt-get" >&2
    as_root apt-get update -qq </dev/null >&2
    local package
    for package in openjdk-17-jre-headless openjdk-21-jre-headless; do # a distribution has the one or the other
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package" </dev/null >&2 && return
    done
    return 1
}

command_to_type() {
    if command -v apt-get >/dev/null; then
        echo "sudo apt-get install -y openjdk-17-jre-headless"
    elif command -v dnf >/dev/null; then
        echo "sudo dnf install -y java-17-openjdk-headless"
    elif command -v brew >/dev/null; then
        echo "brew install openjdk@17"
    else
        echo "JAVA_HOME=/path/to/java-17 make ..."
    fi
}

find_java || { install_java && find_java; } || {
    printf 'error: Spark needs Java 17 or 21 and none was found. Type this, then try again:\n\n    %s\n\n' "$(command_to_type)" >&2
    exit 1
}
