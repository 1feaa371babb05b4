#!/bin/sh
# Services of a larger installation, one program per container: `store` is an S3 endpoint (s3proxy), `rest` Iceberg's
# REST catalog. `make test-stack` starts the store with this script too.
set -eu
: "${JAVA:=java}" "${STACK:=/opt/limnograph/.tools/stack}" "${CONFIG:=/opt/limnograph}"
case "${1:-}" in
store)
  : "${STORE_KEY:?set LIMNOGRAPH_STORE_KEY in the environment or in .env}"
  : "${STORE_SECRET:?set LIMNOGRAPH_STORE_SECRET in the environment or in .env}"
  for bucket in $STORE_BUCKETS; do mkdir -p "$STORE_DATA/$bucket"; done
  umask 077
  conf=$(mktemp)
  cp "$CONFIG/s3proxy.conf" "$conf"
  printf '%s\n' "s3proxy.endpoint=$STORE_ENDPOINT" "s3proxy.identity=$STORE_KEY" "s3proxy.credential=$STORE_SECRET" \
    "jclouds.filesystem.basedir=$STORE_DATA" >>"$conf"
  umask 022
  exec "$JAVA" "-Dlogback.configurationFile=$CONFIG/logback.xml" -Xmx300m -XX:+UseSerialGC -cp "$STACK/s3/*" \
    org.gaul.s3proxy.Main --properties "$conf"
  ;;
rest)
  # Its properties are CATALOG_* variables: `__` means `-`, `_` means `.`.
  : "${CATALOG_S3_SECRET__ACCESS__KEY:?set LIMNOGRAPH_STORE_SECRET in the environment or in .env}"
  exec "$JAVA" -Xmx384m -XX:+UseSerialGC -cp "$STACK/rest/*:$STACK/../jars-s3/*" \
    org.apache.iceberg.rest.RESTCatalogServer
  ;;
*)
  echo "usage: neighbours.sh store|rest" >&2
  exit 2
  ;;
esac
