// Contention: on the page of reads and on the page of a commit, by keyboard, on a phone and in the dark.
import type { Page } from '@playwright/test';
import { accessible } from '../axe.ts';
import { changeAnswer, expect, test } from './fixtures.ts';
import { NIGHT, TABLE } from './moment.ts';
import { sideways } from './ways.ts';

const READS = /\/api\/v1\/.*\/reads\?/;
const COMMIT = /\/api\/v1\/.*\/commits\/5184430069070270604/;
const AT = Date.UTC(2026, 10, 21, 2, 30);

const lost = {
  ...{ loser: 'merge_customers', loser_kind: 'row_delta', loser_streaming: false },
  ...{ winner: 'events', winner_kind: 'append', winner_streaming: true, conflict_kind: 'files_added' },
  ...{ refused: 3, retried: 0, last_at: AT, snapshot_id: '5184430069070270604' },
};
const writer = {
  ...{ writer: 'merge_customers', kind: 'row_delta', streaming: false, commits: 9, attempts_known: 0 },
  ...{ attempts: null, retries: null, refused: 3, failed: 0, last_at: AT },
};
const contended = {
  ...{ start: AT - 3_600_000, reported: 42, attempts_known: 30, attempts: 45, retries: 15, refused: 3 },
  ...{ failed: 0, commits_per_minute: 6, ceiling_per_minute: 7.5 },
  writers: [writer],
  collisions: [lost],
};

const collide = (page: Page) =>
  changeAnswer<{ contention: object }>(page, READS, (body) => Object.assign(body.contention, contended));

test('both writers of a collision are named, and the commit that came first is a way', async ({ page }) => {
  await collide(page);
  await page.goto(`${TABLE}/reads?${NIGHT}`);
  const panel = page.getByRole('region', { name: 'Contention' });
  await expect(panel).toContainText('30 of them took 45 attempts. 3 commits were refused.');
  await expect(panel.locator('dl')).toContainText('Catalog allows a minute 7.5');
  const pairs = panel.getByRole('region', { name: 'Writers that collided' });
  const row = pairs.getByRole('row', { name: /^merge_customers \(row delta\) refused 3 times events/ });
  await expect(row).toContainText('it added files that the other had not read');
  const writers = panel.getByRole('region', { name: 'Attempts by writer' });
  await expect(writers.getByRole('row', { name: /9 unknown unknown 3 0/ })).toBeVisible();
  await accessible(page);
  await row.getByRole('link').press('Enter');
  await expect(page).toHaveURL(/\/commits\/5184430069070270604/);
});

test('without a reported commit no number is a zero, in the dark on a phone too', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(`${TABLE}/reads?${NIGHT}`);
  const panel = page.getByRole('region', { name: 'Contention' });
  await expect(panel).toContainText('No engine reported a commit in this range.');
  await expect(panel.getByRole('table')).toHaveCount(0);
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await accessible(page);
});

test('with collisions the page fits a phone', async ({ page }) => {
  await collide(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${TABLE}/reads?${NIGHT}`);
  await expect(page.getByRole('region', { name: 'Writers that collided' })).toBeVisible();
  expect(await sideways(page)).toBeLessThanOrEqual(0);
  await accessible(page);
});

test('the page of a commit says what it took and who was refused because of it', async ({ page }) => {
  await changeAnswer<{ attempts: object }>(page, COMMIT, (body) => {
    body.attempts = {
      ...{ writer: 'events', kind: 'append', streaming: true, attempts: 2, retries: 1, seconds: 3 },
      lost_to: [{ ...lost, winner: 'compaction', winner_kind: 'replace', winner_streaming: null }],
      won_over: [lost],
    };
  });
  await page.goto(`${TABLE}/commits/5184430069070270604?${NIGHT}`);
  const main = page.getByRole('main');
  await expect(main.getByRole('heading', { name: 'Attempts' })).toBeVisible();
  await expect(main).toContainText(/Retried because of\s+compaction \(replace\)/);
  await expect(main).toContainText(/merge_customers \(row delta\)\s+was refused 3 times/);
  await accessible(page);
});
