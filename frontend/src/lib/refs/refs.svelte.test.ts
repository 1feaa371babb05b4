import '../../app.css';
import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { axeFindings, doubleIds } from '../../test/axe.ts';
import { NOW, refRow, refsPage } from './fixtures.ts';
import RefsView from './RefsView.svelte';

const links = { now: NOW, hrefOf: (t: number) => `/t?at=${t}`, commitHref: (id: string) => `/commits/${id}` };

test('each ref has its snapshot, its distance to main and what expiry keeps because of it', async () => {
  const screen = await render(RefsView, { page: refsPage(), ...links });
  await expect.element(screen.getByText(/main was rolled back; see Ref history/)).toBeVisible();
  await expect
    .element(screen.getByText(/newest 5 snapshots and all of the last 5 days, currently 40/).first())
    .toBeVisible();
  await expect.element(screen.getByText('149; 2 ahead, 3 behind')).toBeVisible();
  await expect.element(screen.getByText(/The ref itself goes after 15 Dec 2026/)).toBeVisible();
  await expect.element(screen.getByText('the ref for 30 d (ref setting)')).toBeVisible();
  await expect.element(screen.getByRole('button', { name: 'Copy snapshot id of q3' })).toBeVisible();
  expect([await axeFindings(), doubleIds()]).toEqual([[], []]);
});

test('a rollback is in the ref history with every digit of both ids', async () => {
  const screen = await render(RefsView, { page: refsPage(), ...links });
  const row = screen.getByRole('row', {
    name: /main branch Rolled back 5184430069070270604 378142004021992640/,
  });
  await expect.element(row).toBeVisible();
  const timeline = screen.getByRole('link', {
    name: /Timeline: rolled back main, 21 Nov 2026, 03:00:00 UTC/,
  });
  await expect.element(timeline).toHaveAttribute('href', `/t?at=${NOW - 3 * 3_600_000}`);
});

test('a format without retention shows none, and nothing to show is said', async () => {
  const refs = [refRow({ retention: null, protected: null, ancestors: null })];
  const screen = await render(RefsView, {
    page: refsPage({ refs, moves: [], live_snapshots: null }),
    ...links,
  });
  await expect.element(screen.getByText('1 branch, 0 tags.')).toBeVisible();
  await expect.element(screen.getByText(/No branch or tag has changed/)).toBeVisible();
  expect(screen.getByText('Expiry keeps', { exact: true }).query()).toBeNull();
});

test('what the note says was not read is not said again of main; of another ref it is said once', async () => {
  const retention = {
    ...{ min_snapshots_to_keep: null, max_snapshot_age_ms: null, max_ref_age_ms: null },
    ...{ min_snapshots_said_by: null, max_age_said_by: null, max_ref_age_said_by: null },
  };
  const sentence = 'Its retention has not been read yet; it is known after the next change of the branch';
  const said = 'The retention settings of main have not been read yet; they are known after its next change.';
  const notes = [{ code: 'retention_unknown' as const, sentence: said }];
  const refs = ['main', 'audit'].map((name) => refRow({ name, retention, sentence, protected_from: null }));
  const screen = await render(RefsView, { page: refsPage({ refs, notes }), ...links });
  await expect.element(screen.getByRole('heading', { name: 'audit' })).toBeVisible();
  expect(screen.getByText(/has not been read yet/).elements()).toHaveLength(1);
  expect(screen.getByText('Rules', { exact: true }).query()).toBeNull();
});

test('names of the observed table stay text', async () => {
  await render(RefsView, {
    page: refsPage({ refs: [refRow({ name: '<img src=x onerror=alert(1)>' })] }),
    ...links,
  });
  expect(document.querySelector('img')).toBeNull();
});

test('320 px need no sideways scroll of the page', async () => {
  await page.viewport(320, 800);
  await render(RefsView, { page: refsPage(), ...links });
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(320);
  await page.viewport(1280, 800);
});
