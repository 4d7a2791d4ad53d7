#!/bin/sh
# Install the servers that the tests use: PostgreSQL (Debian). Says what it could not do, and lets the tests skip.
set -u
if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1; then
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "PostgreSQL is not installed, and there is no apt-get to install it: its tests will be skipped."
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1 || ! sudo -n true 2>/dev/null; then
        echo "PostgreSQL is not installed, and installing it needs root: its tests will be skipped."
        exit 0
    fi
    as_root="sudo -n"
fi
export DEBIAN_FRONTEND=noninteractive
{ $as_root apt-get update -qq && $as_root apt-get install -y -qq postgresql; } >/tmp/tacit-apt.log 2>&1 || {
    tail -n 5 /tmp/tacit-apt.log
    echo "PostgreSQL could not be installed: its tests will be skipped."
}
