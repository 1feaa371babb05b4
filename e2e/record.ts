// Records what the scenarios of `ui/` ask, from a demo that runs: LIMNOGRAPH_DEMO_URL, else the usual address. All of it
// with --fresh, else what is missing. The demo's story must be younger than a day: pages look that far back.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;
if (process.argv.includes('--fresh')) rmSync(join(here, 'ui/recorded'), { recursive: true, force: true });
const demo = process.env['LIMNOGRAPH_DEMO_URL'] ?? 'http://127.0.0.1:8787';
const { status } = spawnSync('npx', ['playwright', 'test', '-c', 'ui.config.ts', '--workers=1'], {
  cwd: here,
  env: { ...process.env, LIMNOGRAPH_RECORD: demo },
  stdio: 'inherit',
});
process.exit(status ?? 1);
