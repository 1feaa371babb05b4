// Decisions on plans: approve, progress, the promise beside the result, conflicts, and breakers.
import type { Page } from '@playwright/test';
import { accessible } from '../axe.ts';
import { expect, expectOnly, test } from './fixtures.ts';
import { detailAnswer, DIGEST } from './maintenance-story.ts';
import { at, TABLE } from './moment.ts';
import { sideways } from './ways.ts';

const PLAN = '3f1c9a7e5b2d4f60813579bdf02468ac';
const OF_TABLE = `${TABLE}/maintenance`;

const transition = (seq: number, state: string, time: string, actor: string) => ({
  ...{ seq, state, at: at(time), attempt: 1, actor, reason: null, policy: null, problem: null },
});
const [PROPOSED, APPROVED, RUNNING, VERIFIED] = [
  transition(1, 'proposed', '05:50', 'limnograph'),
  transition(2, 'approved', '05:52', 'ada'),
  transition(5, 'running', '05:53', 'limnograph'),
  transition(7, 'verified', '05:57', 'limnograph'),
];
const RESULT = {
  ...{ files_in: 1840, files_out: 22, bytes_in: 11.4e9, bytes_out: 10.8e9, bytes_freed: null },
  ...{ seconds: 240, cost: 0.07, snapshot_ids: ['42'], left_behind_files: 0, left_behind_bytes: 0 },
  writers_failed: null,
};
const APPROVER = { can: ['approve', 'dismiss'] };

/** Serves one plan, which a test moves on. */
async function serve(page: Page, first: Record<string, unknown>) {
  const posted: { path: string; body: unknown }[] = [];
  let now = first;
  let refusal: object | undefined;
  await page.route(new RegExp(`/api/v1/maintenance/${PLAN}(/[a-z]+)?$`), (route) => {
    const request = route.request();
    if (request.method() === 'GET') return route.fulfill({ json: detailAnswer(PLAN, now) });
    posted.push({ path: new URL(request.url()).pathname, body: request.postDataJSON() as unknown });
    if (refusal)
      return route.fulfill({ status: 409, contentType: 'application/problem+json', json: refusal });
    now = { ...APPROVED, can: ['cancel'], approved_by: 'ada', history: [PROPOSED, APPROVED] };
    return route.fulfill({ json: detailAnswer(PLAN, now) });
  });
  return {
    posted,
    move: (next: Record<string, unknown>) => (now = next),
    refuse: (detail: string) =>
      (refusal = { type: 'conflict', title: 'Conflict', status: 409, detail, request_id: 'r-1' }),
  };
}
const decision = (page: Page) => page.getByRole('group', { name: 'Decision' }).first();

// A plan is approved for exactly its arguments, runs, and shows its promise beside the result.
test('Maintenance safety', async ({ page }) => {
  const plan = await serve(page, APPROVER);
  await page.goto(OF_TABLE);
  await expect(decision(page)).toContainText('Waiting for a decision');
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  const panel = page.getByRole('dialog', { name: 'Approve this plan' });
  await expect(panel).toContainText(DIGEST.slice(0, 12));
  await panel.getByLabel('Reason, optional').fill('quiet night');
  await panel.getByRole('button', { name: 'Approve and run' }).click();
  await expect(decision(page)).toContainText('Approved: waiting for the maintainer');
  expect(plan.posted).toEqual([
    {
      path: `/api/v1/maintenance/${PLAN}/approve`,
      body: { arguments_sha256: DIGEST, seq: 1, reason: 'quiet night' },
    },
  ]);
  plan.move({ ...RUNNING, can: ['cancel'], history: [PROPOSED, APPROVED, RUNNING] });
  await expect(decision(page).getByRole('listitem').filter({ hasText: 'Running' })).toHaveAttribute(
    'aria-current',
    'step',
  );
  plan.move({ ...VERIFIED, result: RESULT, history: [PROPOSED, APPROVED, RUNNING, VERIFIED] });
  await expect(decision(page)).toContainText('Done and verified');
  const row = decision(page).getByRole('row', { name: /^Files written/ });
  await expect(row.getByRole('cell')).toHaveText(['22', '22']);
});

test('of two decisions at once one is refused, and says so', async ({ page, complaints }) => {
  const plan = await serve(page, APPROVER);
  await page.goto(OF_TABLE);
  await decision(page).getByRole('button', { name: 'Approve' }).click();
  plan.refuse('another caller moved the plan to dismissed first');
  plan.move({ ...transition(2, 'dismissed', '05:51', 'bob'), can: ['propose'] });
  await page.getByRole('button', { name: 'Approve and run' }).click();
  await expect(decision(page)).toContainText('Dismissed');
  await expect(decision(page).getByRole('alert')).toContainText('another caller moved the plan');
  expectOnly(complaints, /409/);
});

test('the page of a plan has its history, by keyboard and on the phone', async ({ page }) => {
  await serve(page, {
    ...transition(9, 'failed', '05:58', 'limnograph'),
    ...{ problem: 'verification', reason: 'two live files are missing' },
    history: [
      PROPOSED,
      APPROVED,
      { ...transition(9, 'failed', '05:58', 'limnograph'), problem: 'verification' },
    ],
  });
  await page.goto(`/maintenance/plans/${PLAN}`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Compact small files');
  await expect(page.getByRole('link', { name: 'lake.sales.customer_events' })).toBeVisible();
  await expect(page.getByRole('list', { name: 'History, newest first' }).getByRole('listitem')).toHaveCount(
    3,
  );
  await expect(decision(page)).toContainText('two live files are missing');
  await accessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await sideways(page)).toBe(0);
});

test('without the scope the page says how to decide, and an unknown plan has a page', async ({
  page,
  complaints,
}) => {
  await page.goto(`/maintenance/plans/${PLAN}`);
  await expect(decision(page)).toContainText('maintain:approve');
  await page.route(/\/api\/v1\/maintenance\/0{32}$/, (route) =>
    route.fulfill({
      ...{ status: 404, contentType: 'application/problem+json' },
      json: { type: 'not-found', title: 'Not found', status: 404, detail: 'unknown plan', request_id: 'r' },
    }),
  );
  await page.goto(`/maintenance/plans/${'0'.repeat(32)}`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Plan not found');
  expectOnly(complaints, /404/);
});

test('a breaker says what it stopped and how it closes, and is closed by hand', async ({ page }) => {
  const breaker = {
    ...{ key: 'action:rewrite_data_files:verification', scope: 'action', subject: 'rewrite_data_files' },
    ...{ table: null, code: 'verification', opened_by: PLAN, opened_at: at('05:58') },
    text: 'A verification failed: 2 live files are missing. Close it by hand once the table is repaired.',
    half_open_at: null,
  };
  let closed: unknown;
  await page.route(/\/api\/v1\/maintenance\/breakers$/, (route) =>
    route.fulfill({ json: { breakers: closed ? [] : [breaker], can_close: true } }),
  );
  await page.route(/\/api\/v1\/maintenance\/breakers\/close$/, (route) => {
    closed = route.request().postDataJSON();
    return route.fulfill({ json: { breakers: [], can_close: true } });
  });
  await page.goto('/maintenance');
  const notice = page.getByRole('group', { name: 'Maintenance is stopped' });
  await expect(notice).toContainText('The action rewrite_data_files on all tables is stopped');
  await notice.getByRole('button', { name: /Close/ }).click();
  await expect(notice).toBeHidden();
  expect(closed).toEqual({ key: breaker.key });
});
