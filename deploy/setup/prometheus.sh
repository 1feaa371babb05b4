#!/bin/sh
# Install prometheus and promtool into .tools/prometheus: from PATH if they are there, otherwise from Debian's package,
# unpacked inside the checkout (no root needed).
set -eu
cd "$(dirname "$0")/../.."
into=.tools/prometheus
[ -x "$into/prometheus" ] && [ -x "$into/promtool" ] && exit 0
mkdir -p "$into"
if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
  ln -sfn "$(command -v prometheus)" "$into/prometheus"
  ln -sfn "$(command -v promtool)" "$into/promtool"
elif command -v apt-get >/dev/null && command -v dpkg >/dev/null; then
  echo "unpacking Debian's prometheus package into $into (once) …"
  package=$(mktemp -d)
  (cd "$package" && apt-get download prometheus) || {
    echo "Prometheus could not be downloaded; run 'apt-get update' as root (make system) and try again." >&2
    exit 1
  }
  dpkg -x "$package"/prometheus_*.deb "$into/root"
  rm -r "$package"
  ln -sfn root/usr/bin/prometheus "$into/prometheus"
  ln -sfn root/usr/bin/promtool "$into/promtool"
else
  echo "Prometheus is missing: Fedora 'dnf install golang-github-prometheus', macOS 'brew install prometheus'." >&2
  exit 1
fi
"$into/prometheus" --version 2>&1 | head -1
