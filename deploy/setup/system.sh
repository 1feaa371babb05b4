#!/bin/sh
# System packages: a JDK 17 (Spark), python3-venv, Chromium (browser tests), Alertmanager (alert tests and
# the demo), PostgreSQL and Maven (catalog tests and the stack).
# `system.sh` installs missing packages as root or with CI=true; `system.sh --check` only prints the command, exit 1.
set -eu

debian="" ; fedora="" ; macos=""
need() { # need WHY DEBIAN FEDORA MACOS
  echo "missing: $2 ($1)"
  debian="$debian $2"; fedora="$fedora $3"; macos="$macos $4"
}

has_java17() {
  for home in "${JAVA_HOME:-}" /usr/lib/jvm/*17* /opt/homebrew/opt/openjdk@17 /usr/local/opt/openjdk@17 "$(/usr/libexec/java_home -v 17 2>/dev/null || true)" \
    "$(dirname "$(dirname "$(readlink -f "$(command -v java || echo /none/bin/java)")")")"; do
    [ -x "$home/bin/java" ] && "$home/bin/java" -version 2>&1 | grep -q 'version "17' && return 0
  done
  return 1
}
has_chromium() { # not `chromium`: `command -v` would find this function
  [ -x "${CHROMIUM_PATH:-}" ] && return 0
  for name in chromium chromium-browser google-chrome; do command -v "$name" >/dev/null && return 0; done
  [ -d "/Applications/Google Chrome.app" ]
}
has_postgres() {
  command -v initdb >/dev/null && return 0
  for program in /usr/lib/postgresql/*/bin/initdb /opt/homebrew/opt/postgresql@*/bin/initdb /usr/local/opt/postgresql@*/bin/initdb; do
    [ -x "$program" ] && return 0
  done
  return 1
}

has_java17 || need "Spark 4.1 runs on Java 17" openjdk-17-jdk-headless java-17-openjdk-devel openjdk@17
python3 -c 'import ensurepip, venv' 2>/dev/null || need "the virtual environment" python3-venv python3 python@3.13
has_chromium || need "browser tests" chromium chromium "--cask google-chrome"
command -v prometheus-alertmanager >/dev/null || command -v alertmanager >/dev/null ||
  need "tests of alerts, and the demo's" prometheus-alertmanager golang-github-prometheus-alertmanager alertmanager
command -v mvn >/dev/null || need "the neighbours in make test-stack" maven maven maven
has_postgres || need "tests of a PostgreSQL catalog" postgresql postgresql-server postgresql@15

[ -n "$debian" ] || exit 0
if [ "${1:-}" != --check ] && { [ "$(id -u)" = 0 ] || [ "${CI:-}" = true ]; } && command -v apt-get >/dev/null; then
  sudo=""; [ "$(id -u)" = 0 ] || sudo=sudo
  echo "installing with apt-get:$debian"
  $sudo apt-get update
  # shellcheck disable=SC2086 # a list of package names
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y --no-install-recommends $debian
else
  echo "Install them with one command: Debian 'sudo apt-get install$debian', Fedora 'sudo dnf install$fedora', macOS 'brew install$macos'." >&2
  exit 1
fi
