// Build, dev server and tests of the dashboard. The build lands inside the Python package, which serves it.
import { fileURLToPath } from 'node:url';
import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { CHROMIUM_ARGS } from './chromium.ts';
import type { Plugin } from 'vite';

const standIn = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const BUILD_INTO = '../backend/limnograph/_dashboard';
const api = process.env['LIMNOGRAPH_API'] ?? 'http://127.0.0.1:8787';
/** What every page loads: one file compresses better than twenty. A part that only some load on demand must not be here. */
const SHARED =
  /src\/lib\/(api\/(client|names|problem|login|retry|table-link)|format\/(bytes|count|duration|here|instant)|live|page\/(sources|tools)|preferences|state|time\/(period|range|step|url|usual|zone)|ui\/(Icon|icons|NotLoaded|Popover\.|announce|ProblemNotice|OperationGlyph|operation|CopyButton)|fleet\/reason)/;
/** What every timeline draws with, likewise; its table, its overview and its pictures come on demand. */
const TIMELINE =
  /src\/lib\/(api\/lanes|timeline\/([a-z]+\/)?(BarsPlot|CommitMarks|Lane(Drawing|Head|Row)|RefFlags|SeriesPlot|TableView|TimeAxis|Timeline(|Footer|Top)|bars|bisect|brush|compare|flags|frame|keys|lane-style|marks|navigation|path|pointer|readout|scale|spoken|ticks|values))\./;
/**
 * Kit reads answers of a rendering server and the state of shallow routes with `devalue`: 4 KB gzip of every first load
 * for what a dashboard of files has neither of. The server side of the build keeps the package.
 */
const plainState: Plugin = {
  name: 'plain-state',
  apply: 'build',
  enforce: 'pre',
  applyToEnvironment: ({ name }) => name === 'client',
  resolveId: (id) => (id === 'devalue' ? standIn('./src/lib/state/devalue.ts') : null),
};
const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

export default defineConfig({
  plugins: [
    plainState,
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
      output: {
        codeSplitting: {
          groups: [
            { name: 'shared', test: SHARED },
            { name: 'timeline', test: TIMELINE },
          ],
        },
      },
    },
  },
  resolve: {
    alias: { 'focus-trap': standIn('./src/lib/ui/focus-trap.ts') },
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
