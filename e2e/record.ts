// Records what the scenarios of `ui/` ask, from a demo that runs: LIMNOGRAPH_DEMO_URL, else the usual address, in the folder
// LIMNOGRAPH_DEMO_DIR, else the usual one. All of it with --fresh, else what is missing. The demo's story must be younger
// than a day: pages look that far back.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './browser.ts';
import { DEMO } from './demo-token.ts';
import { Past } from './ui/past.ts';
import { write } from './ui/recordings.ts';
import { FOLDER, QUESTIONS } from './ui/without.ts';

const here = import.meta.dirname;
if (process.argv.includes('--fresh')) {
  rmSync(join(here, 'ui/recorded'), { recursive: true, force: true });
  await recordWithout();
}
const demo = process.env['LIMNOGRAPH_DEMO_URL'] ?? 'http://127.0.0.1:8787';
const { status } = spawnSync('npx', ['playwright', 'test', '-c', 'ui.config.ts', '--workers=1'], {
  cwd: here,
  env: { ...process.env, LIMNOGRAPH_RECORD: demo },
  stdio: 'inherit',
});
process.exit(status ?? 1);

/** Of the same lake without the commit of the story: `without.py` serves it for as long as this asks. */
async function recordWithout(): Promise<void> {
  const past = new Past();
  const server = spawn(
    join(root, '.venv/bin/python'),
    [join(here, 'without.py'), join(DEMO, 'limnograph.toml'), past.burstId],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    const [url] = (await Promise.race([
      once(server.stdout, 'data'),
      once(server, 'exit').then(() => Promise.reject(new Error('without.py ended before it served'))),
    ])) as [Buffer];
    for (const [name, asked] of Object.entries(QUESTIONS))
      write(
        await past.ask(String(url).trim(), new URL(asked, String(url).trim())),
        join(FOLDER, `${name}.json`),
      );
  } finally {
    server.kill();
  }
}
