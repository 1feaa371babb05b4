// The contrast that tokens.css promises, computed from it: text 4.5, graphics 3, on every surface, light and dark.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
const SURFACES = ['bg', 's1', 's2'];
const TEXT = ['text', 'muted', 'accent', 'ok', 'warn', 'crit', 'unknown'];
const GRAPHICS = [
  'control',
  'focus',
  'series-job',
  'series-files',
  'series-deletes',
  'series-bytes',
  'series-fresh',
  'series-base',
  'op-delete',
];
const THEMES = ['light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

function colour(token: string, theme: Theme): string {
  const found = new RegExp(`--${token}:\\s*light-dark\\((#[0-9a-f]{6}),\\s*(#[0-9a-f]{6})\\)`, 'i').exec(css);
  const value = found?.[theme === 'light' ? 1 : 2];
  if (!value) throw new Error(`--${token} is not a pair of hex colours`);
  return value;
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((i) => {
    const c = parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

test.each(THEMES)('text can be read on every surface, %s', (theme) => {
  for (const token of TEXT)
    for (const surface of SURFACES) {
      const found = contrast(colour(token, theme), colour(surface, theme));
      expect(found, `${token} on ${surface}`).toBeGreaterThanOrEqual(4.5);
    }
});

test.each(THEMES)('lines and marks can be seen on every surface, %s', (theme) => {
  for (const token of GRAPHICS)
    for (const surface of SURFACES) {
      const found = contrast(colour(token, theme), colour(surface, theme));
      expect(found, `${token} on ${surface}`).toBeGreaterThanOrEqual(3);
    }
});

test.each(THEMES)('a tint carries its own text, %s', (theme) => {
  for (const token of ['crit', 'warn', 'ok', 'accent'])
    expect(contrast(colour(token, theme), colour(`tint-${token}`, theme)), token).toBeGreaterThanOrEqual(4.5);
  expect(contrast(colour('on-accent', theme), colour('accent', theme))).toBeGreaterThanOrEqual(4.5);
});
