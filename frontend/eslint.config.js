// Lint rules. FLOORS is the order of the dashboard's folders; routes and the shell may import all of them.
import { readdirSync } from 'node:fs';
import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

const MELT = {
  group: ['melt', 'melt/*'],
  message: 'Melt has accessibility gaps that lib/ui closes: import the wrapper.',
};
const COMPONENTS = { group: ['*.svelte'], message: 'Floors below ui know no component.' };
const RELATIVE = {
  regex: String.raw`^\.\./(?!.*(test/axe\.ts|app\.css|styles/\w+\.css)$)`,
  message: 'Another folder is imported by #lib/…, so that its floor can be checked.',
};
const restrict = (...patterns) => ({ 'no-restricted-imports': ['error', { patterns }] });

// Regular expressions, because a group's `#` begins a comment as in a .gitignore.
/** Folders of lib/ from the ground up: each imports from those before it, and from none beside or after it. */
const FLOORS = [
  ['api', 'time'],
  ['preferences'],
  ['format'],
  ['state'],
  ['ui'],
  ['live'],
  ['page'],
  ['contention', 'forecast', 'notes', 'runbook'],
  ['effects', 'findings'],
  ['timeline', 'maintenance'],
  ['alerts', 'columns', 'commit', 'reads', 'refs', 'schema', 'settings'],
  ['explain', 'fleet', 'partitions', 'table-pages'],
  ['incident', 'table'],
  ['shell'],
];
const folders = readdirSync(new URL('src/lib', import.meta.url), { withFileTypes: true });
const unplaced = folders.filter((each) => each.isDirectory() && !FLOORS.flat().includes(each.name));
if (unplaced.length)
  throw new Error(`without a floor in FLOORS: ${unplaced.map(({ name }) => name).join(', ')}`);
const floors = FLOORS.flatMap((names, floor) =>
  names.map((folder) => {
    const above = FLOORS.slice(floor).flat();
    const others = above.filter((name) => name !== folder);
    const patterns = folder === 'ui' ? [RELATIVE] : [MELT, RELATIVE];
    if (floor < FLOORS.findIndex((names) => names.includes('ui'))) patterns.push(COMPONENTS);
    if (others.length)
      patterns.push({
        regex: `^#lib/(${others.join('|')})/`,
        message: `lib/${folder} imports from lower floors only (FLOORS in eslint.config.js).`,
      });
    if (folder === 'ui')
      patterns.push({
        regex: '^#lib/api/',
        message: 'lib/ui draws what it is given; it fetches nothing.',
      });
    return { files: [`src/lib/${folder}/**`], rules: restrict(...patterns) };
  }),
);

export default ts.config(
  { ignores: ['.svelte-kit/', 'src/lib/api/schema.d.ts'] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  prettier,
  ...svelte.configs.prettier,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: {
      parserOptions: { extraFileExtensions: ['.svelte'], parser: ts.parser },
    },
  },
  {
    files: ['**/*.ts', '**/*.svelte'],
    rules: {
      'no-undef': 'off',
      // needs types: eslint.types.config.js
      'svelte/no-unused-props': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // the dashboard is always served at the root: there is no base path to resolve
      'svelte/no-navigation-without-resolve': 'off',
      // search parameters are built, used and dropped within one function; state lives in the URL itself
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  { files: ['src/**'], rules: { ...restrict(MELT), 'svelte/no-at-html-tags': 'error' } },
  ...floors,
);
