import '../../app.css';
import { afterEach, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { axeFindings } from '../../test/axe.ts';
import { theme } from '#lib/preferences/theme.svelte.ts';
import { preferences, readPreferences } from '#lib/preferences/preferences.svelte.ts';
import { usualRange } from '#lib/time/usual.ts';
import SettingsPanel from './SettingsPanel.svelte';

const root = document.documentElement;
afterEach(() => {
  theme.choose('system');
  preferences.choose(readPreferences(null));
});

test('a choice is seen at once and is kept', async () => {
  const screen = await render(SettingsPanel, {});
  await screen.getByRole('radio', { name: 'Compact' }).click();
  await screen.getByRole('radio', { name: '6 hours' }).click();
  await screen.getByRole('checkbox', { name: /Dashes and hatching/ }).click();
  expect(root.dataset['density']).toBe('compact');
  expect(root.dataset['patterns']).toBe('on');
  expect(usualRange()).toEqual({ from: 'now-6h', to: 'now' });
  expect(readPreferences(localStorage.getItem('limnograph.preferences'))).toEqual({
    shortcuts: true,
    range: 'now-6h',
    density: 'compact',
    zone: 'UTC',
    patterns: true,
  });
  await screen.getByRole('radio', { name: 'Comfortable' }).click();
  expect(root.dataset['density']).toBeUndefined();
});

test('the theme is one of three', async () => {
  const screen = await render(SettingsPanel, {});
  await expect.element(screen.getByRole('radio', { name: 'System' })).toBeChecked();
  await screen.getByRole('radio', { name: 'Dark' }).click();
  expect(root.dataset['theme']).toBe('dark');
  expect(await axeFindings()).toEqual([]);
});

test('what was stored by another version, or by hand, counts as far as it can be read', () => {
  const usual = readPreferences(null);
  for (const text of [
    '',
    '{',
    'null',
    '[]',
    '{"range":"now-99y","density":5,"patterns":"yes","zone":"Mars/Olympus"}',
  ])
    expect(readPreferences(text)).toEqual(usual);
  expect(readPreferences('{"range":"now-1h"}')).toEqual({ ...usual, range: 'now-1h' });
});
