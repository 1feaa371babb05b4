// Lint rules. The import rules are the layers of the dashboard: api, time, format < state < timeline, ui < routes.
import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

const MELT = {
  group: ['melt', 'melt/*'],
  message: 'Melt has accessibility gaps that lib/ui closes: import the wrapper.',
};
const COMPONENTS = { group: ['*.svelte', '#lib/ui/*'], message: 'api, time and format know no component.' };
const restrict = (...patterns) => ({ 'no-restricted-imports': ['error', { patterns }] });

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
      parserOptions: { projectService: true, extraFileExtensions: ['.svelte'], parser: ts.parser },
    },
  },
  {
    files: ['**/*.ts', '**/*.svelte'],
    rules: {
      'no-undef': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // the dashboard is always served at the root: there is no base path to resolve
      'svelte/no-navigation-without-resolve': 'off',
      // search parameters are built, used and dropped within one function; state lives in the URL itself
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  { files: ['src/**'], rules: { ...restrict(MELT), 'svelte/no-at-html-tags': 'error' } },
  { files: ['src/lib/{api,time,format}/**'], rules: restrict(MELT, COMPONENTS) },
  {
    files: ['src/lib/ui/**'],
    rules: restrict({ group: ['#lib/api/*'], message: 'lib/ui draws what it is given; it fetches nothing.' }),
  },
);
