// Fails when the table route is heavier than promised: its first load, scripts and styles, and the same with the drawing of
// the timeline, which is asked for beside the first question. Reads what `npm run build` left. `first-load.json` holds what
// each group of modules weighed when it was recorded (`npm run budget -- --record`): a failure names those that grew.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const ROUTE = 'src/routes/t/[catalog]/[ns]/[table]/+page.svelte';
const KIT = 'node_modules/@sveltejs/kit/src/runtime/client';
const GENERATED = '.svelte-kit/generated/build/client-optimized';
const OUTPUT = '.svelte-kit/output/client';
const RECORD = 'first-load.json';
/** Bytes of a group that its neighbours' names and the order of modules cost or save. */
const NOISE = 40;

const manifest = JSON.parse(readFileSync(`${OUTPUT}/.vite/manifest.json`, 'utf8'));
const modules = JSON.parse(readFileSync('.svelte-kit/module-sizes.json', 'utf8'));

/** Kit numbers its pages; each number's module names the component of its route. */
function nodeOf(component) {
  const found = readdirSync(`${GENERATED}/nodes`)
    .map((name) => `${GENERATED}/nodes/${name}`)
    .find((path) => readFileSync(path, 'utf8').includes(component));
  if (!found) throw new Error(`no page is built from ${component}`);
  return found;
}

/** Of a module that shares its file with others the manifest knows the file alone. */
function chunkOf(module) {
  const [file] =
    Object.entries(modules).find(([, ids]) => Object.keys(ids).some((id) => id.endsWith(module))) ?? [];
  const [key] = Object.entries(manifest).find(([, chunk]) => chunk.file === file) ?? [];
  if (!key) throw new Error(`${module} is in no file`);
  return key;
}

/** The files that a module needs before it runs, added to `files`. */
function load(module, files) {
  const chunk = manifest[module];
  if (!chunk) throw new Error(`${module} is not in the manifest: does this Kit start in another way?`);
  if (files.has(chunk.file)) return files;
  for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
  for (const each of chunk.imports ?? []) load(each, files);
  return files;
}

const gzipped = (file) => gzipSync(readFileSync(`${OUTPUT}/${file}`), { level: 9 }).length;
const sum = (sizes) => sizes.reduce((whole, size) => whole + size, 0);

/** `svelte`, `src/lib/ui`, `src/routes`: who a module belongs to. */
function groupOf(id) {
  const path = id.replace(/^\0|\?.*$/g, '');
  const installed = path.split('node_modules/').at(-1).split('/');
  if (path.includes('node_modules/'))
    return installed.slice(0, installed[0].startsWith('@') ? 2 : 1).join('/');
  return /src\/(lib\/[^/]+|[^/]+)(?=\/)/.exec(path)?.[0] ?? 'generated';
}

/** What each group weighs in these files, a file's bytes divided by the length of its modules' code. */
function weigh(files) {
  const groups = {};
  const add = (group, size) => (groups[group] = (groups[group] ?? 0) + size);
  for (const file of files) {
    const sizes = Object.entries(modules[file] ?? {});
    const whole = sum(sizes.map(([, size]) => size));
    if (!whole) add(file.endsWith('.css') ? 'styles' : 'generated', gzipped(file));
    else for (const [id, size] of sizes) add(groupOf(id), (gzipped(file) * size) / whole);
  }
  return Object.fromEntries(
    Object.entries(groups)
      .map(([group, size]) => [group, Math.round(size)])
      .sort(([a], [b]) => a.localeCompare(b)),
  );
}

const first = new Set();
for (const module of [
  ...['entry.js', 'client-entry.js', 'payload.js'].map((name) => `${KIT}/${name}`),
  `${GENERATED}/app.js`,
  ...['src/routes/+layout.svelte', 'src/routes/+error.svelte', ROUTE].map(nodeOf),
])
  load(module, first);
const drawn = load(chunkOf('src/lib/timeline/Timeline.svelte'), new Set(first));

const BUDGETS = [
  { name: 'first load of the table route', limit: 80_000, files: first },
  { name: 'the same until its lanes are drawn', limit: 96_000, files: drawn },
];
const weights = weigh(drawn);
if (process.argv.includes('--record')) writeFileSync(RECORD, `${JSON.stringify(weights, null, 2)}\n`);
const recorded = JSON.parse(readFileSync(RECORD, 'utf8'));

for (const { name, limit, files } of BUDGETS) {
  const total = sum([...files].map(gzipped));
  console.log(`${name}: ${(total / 1000).toFixed(1)} KB gzip in ${files.size} files`);
  if (total <= limit) continue;
  process.exitCode = 1;
  console.error(
    `more than ${limit / 1000} KB: load on demand what is not drawn at first. Grown since ${RECORD}:`,
  );
  const grown = Object.entries(weights)
    .map(([group, size]) => [size - (recorded[group] ?? 0), group])
    .filter(([by]) => by > NOISE)
    .sort(([a], [b]) => b - a);
  for (const [by, group] of grown) console.error(`${`+${by}`.padStart(7)} B ${group}`);
  if (!grown.length) console.error('        nothing: the limit was lowered, or the record is new');
}
