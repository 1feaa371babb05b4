import '../../app.css';
import { beforeEach, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import type { Schemas } from '#lib/api/client.ts';
import { axeFindings } from '../../test/axe.ts';
import { silentAbout } from './stale.ts';
import StaleNotice from './StaleNotice.svelte';
import { statusFeed } from '#lib/live/StatusFeed.svelte.ts';

const NOW = Date.UTC(2026, 10, 21, 6);
const MINUTE = 60_000;

const source = (
  kind: Schemas['SourceStatus']['kind'],
  status: Schemas['SourceStatus']['status'],
  detail: string | null = null,
): Schemas['SourceStatus'] => ({
  id: kind,
  kind,
  status,
  detail,
  age_s: 720,
  breaker: null,
  latency_s: null,
});

const told = (watermark: number | null, sources: Schemas['SourceStatus'][] = []): Schemas['Status'] => ({
  ...{ version: '1', now: NOW, watermark, lag_s: null, run_id: null, tables: 1, unreadable: 0, snapshots: 1 },
  ...{
    ...{ jobs: 0, firing: 0, open_findings: 0 },
    hourly_days: 400,
    hot: { bytes: 1, rows: 1, tables_shortened: 0 },
    sources,
    hints: [],
    scopes: [],
    user: null,
  },
});

beforeEach(() => statusFeed.resource.clear());

test('commits that are old say since when, and what is not here', async () => {
  statusFeed.resource.take(told(NOW - 1));
  const screen = await render(StaleNotice, { of: 'commits', watermark: NOW - 47 * MINUTE });
  await expect
    .element(screen.getByRole('group', { name: 'Stale data' }))
    .toMatchTextContent(/last read at 21 Nov 2026, 05:13:00 UTC, 47 m ago; later commits are missing/);
  expect(await axeFindings()).toEqual([]);
});

test('without a time of its own a page takes that of all tables', async () => {
  statusFeed.resource.take(told(NOW - 10 * MINUTE));
  const screen = await render(StaleNotice, { of: 'commits' });
  await expect.element(screen.getByRole('group', { name: 'Stale data' })).toMatchTextContent(/10 m ago/);
});

test.each([
  ['what was read a minute ago', NOW - MINUTE, undefined],
  ['a night that was read to its end', NOW - 60 * MINUTE, NOW - 90 * MINUTE],
  ['what was never read: the page says that itself', null, undefined],
])('%s is not old', async (_, watermark, until) => {
  statusFeed.resource.take(told(watermark));
  const screen = await render(StaleNotice, { of: 'commits', watermark, ...(until && { until }) });
  expect(screen.getByRole('group').elements()).toEqual([]);
});

test('names the alert source that is not responding, and since when', async () => {
  statusFeed.resource.take(told(NOW - 60 * MINUTE, [source('alertmanager', 'error', 'refused')]));
  const screen = await render(StaleNotice, { of: 'alerts' });
  await expect
    .element(screen.getByRole('group', { name: 'Stale data' }))
    .toMatchTextContent('Alertmanager is not responding (refused); last response 12 m ago');
});

test('a source that is well, not set up, or says nothing of alerts is not spoken of', () => {
  const well = [source('alertmanager', 'ok'), source('inbox', 'absent'), source('prometheus', 'error')];
  expect(silentAbout('alerts', well)).toEqual([]);
  expect(silentAbout('alerts', [source('inbox', 'error', 'disk full')])).toEqual([
    {
      id: 'inbox',
      sentence: 'Alerts from Alertmanager cannot be stored (disk full); some may be missing.',
    },
  ]);
});

test('warns that slower jobs may be missing while Prometheus is not responding', () => {
  const sources = [source('alertmanager', 'error'), source('prometheus', 'error', '504')];
  expect(silentAbout('tables', sources).map(({ sentence }) => sentence)).toEqual([
    'Prometheus is not responding (504). Slower jobs may be missing.',
  ]);
  expect(silentAbout('tables', [source('prometheus', 'stale')])).toEqual([]);
});
