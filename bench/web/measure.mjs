// Builds both pages, opens each fresh several times, alternately, and prints the drawing times as one JSON line.
// Tools are loaded from the dashboard's node_modules, Chart.js from this folder's.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const here = import.meta.dirname;
const frontend = join(here, '../../frontend');
const from = createRequire(join(frontend, 'package.json'));
const load = (name) => import(pathToFileURL(from.resolve(name)).href);
const [
  { build },
  { svelte },
  {
    default: { chromium },
  },
] = await Promise.all(['vite', '@sveltejs/vite-plugin-svelte', 'playwright'].map(load));
const [into, rounds] = [process.argv[2], Number(process.argv[3] ?? 7)];
const at = (values, share) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)];
/** Shown before either page draws, like a page's top bar: the first text of a page loads the browser's fonts. */
const SHELL =
  '<header><b>limnograph</b> <span class="num">0123</span> <button class="btn">Share</button></header>';
const SETTLED_MS = 1_600; // an animation of Chart.js takes a second

/** The dashboard's Svelte, also for the modules in this folder. */
const ofTheDashboard = {
  name: 'of-the-dashboard',
  enforce: 'pre',
  resolveId(id, importer) {
    if (/^svelte(\/|$)/.test(id) && !importer?.startsWith(frontend))
      return this.resolve(id, join(frontend, 'src/lib/api/lanes.ts'), {
        skipSelf: true,
      });
  },
};
for (const [name, entry] of [
  ['lanes', 'lanes.svelte.ts'],
  ['charts', 'charts.ts'],
])
  await build({
    ...{ configFile: false, root: here, base: `/${name}/`, logLevel: 'error' },
    plugins: [ofTheDashboard, svelte({ compilerOptions: { runes: true } })],
    build: {
      ...{
        outDir: join(into, name),
        emptyOutDir: true,
        cssCodeSplit: false,
        modulePreload: false,
      },
      // minified, the same as the dashboard: library mode would keep whitespace
      rolldownOptions: {
        input: join(here, entry),
        output: { entryFileNames: 'page.js', assetFileNames: 'page[extname]' },
      },
    },
  });

const server = createServer((request, response) => {
  const path = request.url.slice(1);
  const side = path.split('/')[0];
  if (!path.includes('.')) {
    const style = side === 'lanes' ? '<link rel="stylesheet" href="/lanes/page.css">' : '';
    response.setHeader('content-type', 'text/html');
    return response.end(
      `<!doctype html><meta charset="utf-8">${style}<script type="module" src="/${side}/page.js"></script>${SHELL}`,
    );
  }
  try {
    const body = readFileSync(join(into, path));
    response.setHeader('content-type', path.endsWith('.css') ? 'text/css' : 'text/javascript');
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
}).listen(0, '127.0.0.1');
await new Promise((done) => server.once('listening', done));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});

/** Opens a fresh page, draws, waits until rendering is complete. `task`: total CPU ms of the main thread. */
async function opened(side, ...given) {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 1000 },
  });
  await page.goto(`http://127.0.0.1:${server.address().port}/${side}`);
  await page.waitForFunction(() => 'draw' in globalThis);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
  };
  const before = await busy();
  const script = await page.evaluate((all) => globalThis.draw(...all), given);
  await page.waitForTimeout(SETTLED_MS);
  return { page, script, task: (await busy()) - before };
}

const found = {
  first: [],
  redraw: [],
  move: [],
  ours: [],
  ours_script: [],
  peer: [],
  peer_script: [],
  still: [],
};
for (let round = 0; round < rounds; round += 1) {
  const wide = await opened('lanes', 8, 1440, 60);
  if ((await wide.page.evaluate(() => globalThis.paths())) !== 8)
    throw new Error('eight lanes are not drawn');
  found.first.push(wide.script);
  found.redraw.push(at(await wide.page.evaluate(() => globalThis.redraws(9)), 0.5));
  found.move.push(at(await wide.page.evaluate(() => globalThis.moves(300)), 0.95));
  await wide.page.close();
  const ours = await opened('lanes', 20, 361, 60);
  if ((await ours.page.evaluate(() => globalThis.paths())) !== 20)
    throw new Error('twenty lanes are not drawn');
  found.ours.push(ours.task);
  await ours.page.close();
  for (const animated of [true, false]) {
    const peer = await opened('charts', 4, 5, 361, 60, animated);
    if ((await peer.page.evaluate(() => globalThis.canvases())) !== 4)
      throw new Error('four panels are not drawn');
    (animated ? found.peer : found.still).push(peer.task);
    await peer.page.close();
  }
}
await browser.close();
server.close();
const least = (values) => Math.min(...values);
console.log(
  JSON.stringify({
    // other load can only increase wall time: take the best page; CPU times: the median
    ...{
      first: least(found.first),
      redraw: least(found.redraw),
      move_p95: least(found.move),
    },
    ...{
      ours: at(found.ours, 0.5),
      peer: at(found.peer, 0.5),
      still: at(found.still, 0.5),
    },
  }),
);
