// The headers of the real server, policy included, asked of its own code: what the stub sends cannot differ from it.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../browser.ts';

export const HEADERS = 'LIMNOGRAPH_UI_HEADERS';
/** The build that is served. */
export const DASHBOARD = process.env['LIMNOGRAPH_DASHBOARD'] ?? join(root, 'backend/limnograph/_dashboard');

const ASK = `
import json, pathlib, sys
from limnograph.api import spa
print(json.dumps(dict(spa.load(pathlib.Path(sys.argv[1])).headers)))
`;

export default function setUp(): void {
  const python = join(root, '.venv/bin/python');
  process.env[HEADERS] = execFileSync(python, ['-c', ASK, DASHBOARD], { encoding: 'utf8' });
}
