import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BURST_ID, NOW, story } from '#lib/timeline/fixtures/story.ts';
import type { Answer } from '#lib/api/lanes.ts';
import { escapeXml, LIGHT } from './picture-parts.ts';
import { pictureOf } from './picture.ts';

const answer = story({ step: 60 });
const link = 'https://limnograph.example/t/lake/sales/customer_events?from=1&to=2&tz=UTC';
const drawn = (of: Answer = answer, title = 'lake.sales.customer_events') =>
  pictureOf({ answer: of, now: NOW, title, link });

test('a picture says which table, when, in which zone, what was read, and where it came from', () => {
  const { svg, width, height } = drawn();
  expect(svg).toMatch(new RegExp(`^<svg xmlns="[^"]+" width="${width}" height="${height}"`));
  for (const said of [
    'lake.sales.customer_events',
    '2026, ',
    'UTC',
    'Job duration',
    'Data files',
    'metadata not read after 05:46:40',
  ])
    expect(svg).toContain(said);
  expect(svg).toContain(`snapshot ${BURST_ID}`);
  expect(svg).toContain(escapeXml(link));
});

test('each lane that is there is drawn, one that is absent is not, and no coordinate is broken', () => {
  const { svg } = drawn();
  const lanes = answer.lanes.filter(({ status }) => status !== 'absent');
  expect(svg.split('overflow="hidden"')).toHaveLength(lanes.length + 1);
  expect(svg).not.toContain('Alerts');
  expect(svg).not.toMatch(/NaN|undefined|Infinity|null/);
});

test('a name that is markup, or holds what XML cannot, stays text', () => {
  const evil = '<script>alert(1)</script>"\'&\u0000\uD800\u202Egnp';
  const lanes = answer.lanes.map((lane) => ({ ...lane, label: evil }));
  const { svg } = drawn({ ...answer, lanes } as Answer, evil);
  expect(svg).not.toContain('<script');
  expect(svg).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\uFFFD\uFFFD\u202Egnp');
});

test('refs that moved are flagged with their names, and commits of another ref are hollow', () => {
  const flags = [{ t: NOW - 3_600_000, ref: '<b>audit', type: 'branch' as const, snapshot_id: '1' }];
  const told = (change: object) => ({
    ...answer,
    lanes: answer.lanes.map((lane) => (lane.kind === 'events' ? { ...lane, ...change } : lane)),
  });
  const { svg } = drawn(told({ flags }));
  expect(svg).toContain('&lt;b&gt;audit');
  expect(drawn(told({ off_ref: [BURST_ID] })).svg).not.toBe(drawn(told({ off_ref: [] })).svg);
});

test('its colours are those of the light theme', () => {
  const css = readFileSync(new URL('../../../styles/tokens.css', import.meta.url), 'utf8');
  for (const [token, colour] of Object.entries(LIGHT))
    expect(css).toContain(`--${token}: light-dark(${colour},`);
});
