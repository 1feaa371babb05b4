// Rules that need the types of a component's props: `npm run lint:types`. To type every component takes three times as long as
// all rules of eslint.config.js, so `npm test` runs them and `make check` does not.
import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';

export default ts.config({ ignores: ['.svelte-kit/', '**/*.ts', '**/*.js'] }, ...svelte.configs.base, {
  files: ['**/*.svelte'],
  languageOptions: {
    parserOptions: { projectService: true, extraFileExtensions: ['.svelte'], parser: ts.parser },
  },
  linterOptions: { reportUnusedDisableDirectives: 'off' },
  rules: { 'svelte/no-unused-props': 'error' },
});
