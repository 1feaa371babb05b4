// Build, dev server and tests of the dashboard. The build lands inside the Python package, which serves it.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { CHROMIUM_ARGS } from './chromium.ts';
import type { Plugin } from 'vite';

const standIn = (name: string) => fileURLToPath(new URL(`./src/stand-ins/${name}.ts`, import.meta.url));
const BUILD_INTO = '../backend/limnograph/_dashboard';
const MODULE_SIZES = '.svelte-kit/module-sizes.json';
const COMMENT = /\/\*[^]*?\*\//g;
const api = process.env['LIMNOGRAPH_API'] ?? 'http://127.0.0.1:8787';
/** What every page loads: one file compresses better than twenty. A part that only some load on demand must not be here. */
const SHARED =
  /@sveltejs\/kit\/src\/runtime\/(app\/|client\/(?!entry|client-entry|payload))|src\/lib\/(shell\/(Shell|SourceChips|place|chords|Finder|Whereabouts|ThemeToggle|PageTabs)|ui\/Combobox\.|ui\/range\/RangePicker|page\/PageNotices|table\/HintLine|alerts\/link|api\/(client|names|problem|login|request|retry|table-link)|format\/(bytes|count|duration|here|instant)|live|page\/(sources|tools)|preferences|state|time\/(period|range|step|url|usual|zone)|ui\/(Icon|icons|NotLoaded|Popover\.|announce|ProblemNotice|OperationGlyph|operation|CopyButton)|fleet\/reason)/;
/**
 * What the page's first script runs: it sets Kit's payload (base path, version) and loads the rest afterwards, because modules
 * read the payload when they are evaluated. In one file with them, an address without a page would reload for ever.
 */
const START = /@sveltejs\/kit\/src\/runtime\/client\/payload\.js|vite\/preload-helper/;
/** What lanes are called and how they look, for timelines and what surrounds them before they are drawn. */
const LANES = /src\/lib\/(api\/lanes|table\/lanes|timeline\/shapes\/lane-style)\./;
/** What every timeline draws with, likewise; its table, its overview and its pictures come on demand. */
const TIMELINE =
  /src\/lib\/(timeline\/([a-z]+\/)?(BarsPlot|CommitMarks|Lane(Drawing|Head|Row)|RefFlags|SeriesPlot|TimeAxis|Timeline(|Footer|Top)|bars|bisect|brush|compare|flags|frame|keys|marks|navigation|path|pointer|readout|scale|spoken|ticks|values))\./;
/**
 * Small modules of many pages, what is said of findings, and the card of the next action: one file each, because the first
 * load has the name of every file.
 */
const LISTS =
  /src\/lib\/(ui\/(Breakable|SkeletonPanel|VerdictGlyph|row-keys|verdict)|page\/(ListExport|ListPager|StaleNotice|csv-export|list-address|lost-cursor|stale)|table-pages\/(ranged-answer|refresh))\./;
const FINDINGS =
  /src\/lib\/findings\/(FindingMark|LinkedPart|cause|effect|evidence|headline|moment|sentence|words)\./;
const MAINTENANCE =
  /src\/lib\/maintenance\/(NextAction|PricesNote|amounts|api|next|risk|sentence|words|plan\/\w+|files\/address)\./;
/**
 * What the browser's build does without: each stand-in says why. Kit reads answers of a rendering server and the state of
 * shallow routes with `devalue`, Svelte takes over what a server rendered. The server side of the build keeps both.
 */
const standIns: Plugin = {
  name: 'stand-ins',
  apply: 'build',
  enforce: 'pre',
  applyToEnvironment: ({ name }) => name === 'client',
  resolveId(id, importer = '') {
    if (id === 'devalue') return standIn('devalue');
    return /\/hydration\.js$/.test(id) && /\/svelte\/src\/internal\/client\//.test(importer)
      ? standIn('hydration')
      : null;
  },
};
/** What each module adds to its file: `first-load.js` names by it what grew. */
const moduleSizes: Plugin = {
  name: 'module-sizes',
  apply: 'build',
  applyToEnvironment: ({ name }) => name === 'client',
  writeBundle(_, bundle) {
    const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
    const sizes = chunks.map(({ fileName, modules }) => [
      fileName,
      Object.fromEntries(
        Object.entries(modules).map(([id, { code }]) => [id, (code ?? '').replace(COMMENT, '').length]),
      ),
    ]);
    writeFileSync(MODULE_SIZES, JSON.stringify(Object.fromEntries(sizes)));
  },
};
const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

export default defineConfig({
  plugins: [
    standIns,
    moduleSizes,
    sveltekit({
      adapter: adapter({ pages: BUILD_INTO, assets: BUILD_INTO, fallback: '200.html', precompress: true }),
      compilerOptions: { runes: true },
      // deep links are answered with 200.html: assets need absolute addresses
      paths: { relative: false },
      // the default is a timestamp: two builds of one commit would differ
      version: { name: process.env['LIMNOGRAPH_VERSION'] ?? 'dev' },
    }),
  ],
  build: {
    rolldownOptions: {
      treeshake: { manualPureFunctions: ['$.reset', '$.next'] },
      output: {
        codeSplitting: {
          groups: [
            { name: 'start', test: START, priority: 1 },
            { name: 'shared', test: SHARED },
            { name: 'lanes', test: LANES },
            { name: 'timeline', test: TIMELINE },
            { name: 'lists', test: LISTS },
            { name: 'findings', test: FINDINGS },
            { name: 'maintenance', test: MAINTENANCE },
          ],
        },
      },
    },
  },
  resolve: {
    alias: { 'focus-trap': standIn('focus-trap') },
  },
  server: { proxy: { '/api': api } },
  test: {
    expect: { requireAssertions: true },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          environment: 'node',
          include: ['src/**/*.test.ts'],
          exclude: ['src/**/*.svelte.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['src/**/*.svelte.test.ts'],
          // a browser on a busy machine: the reporter names each test that needed its second try
          retry: process.env['CI'] ? 1 : 0,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            viewport: { width: 1280, height: 800 },
            provider: playwright({ launchOptions: { executablePath, args: CHROMIUM_ARGS } }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
});
