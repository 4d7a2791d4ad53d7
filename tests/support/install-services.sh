#!/bin/sh
# Install what the tests start on this machine: PostgreSQL's server, Java for Spark, and a browser (Debian packages).
# Says what it could not do; those tests are then skipped and say why.
set -u
wanted=""
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1 || wanted="postgresql"
command -v java >/dev/null 2>&1 || wanted="$wanted default-jre-headless"
command -v chromium >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1 || wanted="$wanted chromium chromium-driver"
[ -n "$wanted" ] || exit 0

skip() {
    echo "Not installed:$(printf ' %s' $wanted) ($1). The tests that need it will be skipped."
    exit 0
}

command -v apt-get >/dev/null 2>&1 || skip "there is no apt-get"
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null || skip "this needs root"
    as_root="sudo -n"
fi
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if ! { $as_root apt-get update -qq && $as_root apt-get install -y -qq $wanted; } >"$log" 2>&1; then
    tail -n 5 "$log"
    skip "apt-get failed"
fi
rm -f "$log"
