// Fails when the first load of the table route, scripts and styles, is larger than promised. Reads what `npm run build` left.
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const LIMIT = 100_000;
const ROUTE = 'src/routes/t/[catalog]/[ns]/[table]/+page.svelte';
const KIT = 'node_modules/@sveltejs/kit/src/runtime/client';
const GENERATED = '.svelte-kit/generated/build/client-optimized';
const OUTPUT = '.svelte-kit/output/client';

const manifest = JSON.parse(readFileSync(`${OUTPUT}/.vite/manifest.json`, 'utf8'));

/** Kit numbers its pages; each number's module names the component of its route. */
function nodeOf(component) {
  const found = readdirSync(`${GENERATED}/nodes`)
    .map((name) => `${GENERATED}/nodes/${name}`)
    .find((path) => readFileSync(path, 'utf8').includes(component));
  if (!found) throw new Error(`no page is built from ${component}`);
  return found;
}

const files = new Set();
function load(module) {
  const chunk = manifest[module];
  if (!chunk) throw new Error(`${module} is not in the manifest: does this Kit start in another way?`);
  if (files.has(chunk.file)) return;
  for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
  for (const each of chunk.imports ?? []) load(each);
}
for (const module of ['entry.js', 'client-entry.js', 'payload.js']) load(`${KIT}/${module}`);
for (const module of [
  `${GENERATED}/app.js`,
  nodeOf('src/routes/+layout.svelte'),
  nodeOf('src/routes/+error.svelte'),
])
  load(module);
load(nodeOf(ROUTE));

const sizes = [...files].map((file) => [
  gzipSync(readFileSync(`${OUTPUT}/${file}`), { level: 9 }).length,
  file,
]);
const total = sizes.reduce((sum, [size]) => sum + size, 0);
console.log(`first load of the table route: ${(total / 1000).toFixed(1)} KB gzip in ${files.size} files`);
if (total > LIMIT) {
  for (const [size, file] of sizes.sort((a, b) => b[0] - a[0]).slice(0, 10))
    console.error(String(size).padStart(7), file);
  console.error(`more than ${LIMIT / 1000} KB: load on demand what is not drawn at first`);
  process.exit(1);
}
