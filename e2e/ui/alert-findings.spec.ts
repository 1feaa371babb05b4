// An alert and its finding tell one story: cause, effect and state, also when the alert is over before its cause, or after.
import type { Page } from '@playwright/test';
import { BURST_LABELS, linkOf } from './alert-story.ts';
import {
  burst,
  BURST_FINDING,
  repaired,
  REPAIR_ID,
  serveFindings,
  unheard,
  type Finding,
} from './finding-story.ts';
import { changeAnswer, expect, test } from './fixtures.ts';
import { serveLedger } from './ledger-story.ts';
import { at, BURST_ID } from './moment.ts';
import type { Incident } from './wire.ts';

/** The incident of the burst, whose alert belongs to a finding. */
async function giveFinding(page: Page, finding: Finding, change: Partial<Incident['alert']> = {}) {
  await changeAnswer<Incident>(page, /\/alerts\/[0-9a-f]{16}/, (body) => {
    Object.assign(body, { finding });
    Object.assign(body.alert, change);
  });
}

test('B3: an alert tells the story of its finding, with its commit', async ({ page }) => {
  await giveFinding(page, burst());
  await serveFindings(page, [burst()]);
  await page.goto(linkOf(BURST_LABELS));
  const what = page.getByRole('region', { name: 'What happened' });
  await expect(what).toContainText('Data files rose from 1,202 to 51,202 at once.');
  await expect(what).toContainText('demo_burst added 50,000 files, 0.9 MB on average, at 03:04:12');
  await expect(what).toContainText(
    'rollup_customer_events takes 3.1× as long (2.6 to 3.7), 108 s more per run.',
  );
  await expect(what.getByRole('link', { name: 'Open commit' })).toHaveAttribute(
    'href',
    new RegExp(`/commits/${BURST_ID}$`),
  );
  await what.getByRole('link', { name: 'Open finding' }).click();
  await expect(page).toHaveURL(`/findings/${BURST_FINDING}`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(
    'Data files rose from 1,202 to 51,202 at once',
  );
});

test('M14: an alert that resolved is not calm while its cause is there', async ({ page }) => {
  await giveFinding(page, burst({ effects: [unheard()] }), { state: 'resolved', ends_at: at('03:25') });
  await serveLedger(page, []);
  await page.goto(linkOf(BURST_LABELS));
  const alert = page.getByRole('region', { name: 'Alert', exact: true });
  await expect(alert).toContainText('Critical · resolved, fired for 20 m; the cause is still there');
  const what = page.getByRole('region', { name: 'What happened' });
  await expect(what).toContainText('No run of rollup_customer_events has ended since');
  await expect(what).toContainText('Open for 2 h 56 m');
});

test('M14: an alert that fires after the repair names the commit that ended its cause', async ({ page }) => {
  await giveFinding(page, repaired());
  await page.goto(linkOf(BURST_LABELS));
  await expect(page.getByRole('region', { name: 'Alert', exact: true })).toContainText('the cause is gone');
  const what = page.getByRole('region', { name: 'What happened' });
  await expect(what).toContainText('Recovered');
  await expect(what.getByRole('link', { name: REPAIR_ID })).toBeVisible();
});

test('M20: the summary of an alert has the verdict, the evidence and the link', async ({ page }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await giveFinding(page, burst());
  await page.goto(linkOf(BURST_LABELS));
  await expect(page.getByRole('region', { name: 'What happened' })).toContainText('51,202');
  await page.getByRole('button', { name: 'Copy Summary' }).click();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  for (const part of [
    'takes 3.1× as long (2.6 to 3.7)',
    '- Files added: 50,000',
    BURST_ID,
    'Open for 2 h 56 m',
  ])
    expect(text).toContain(part);
  expect(text.trimEnd().endsWith(page.url())).toBe(true);
});

test('the list of alerts tells the finding of each, and which of them is not over', async ({ page }) => {
  await changeAnswer<{ rows: Incident['alert'][] }>(page, /\/api\/v1\/alerts\?/, ({ rows }) => {
    for (const row of rows)
      if (row.alert_name === 'SmallFileProliferation') Object.assign(row, { finding: burst() });
  });
  await page.goto('/alerts');
  const told = page.getByRole('link', { name: /Data files rose from 1,202 to 51,202/ }).first();
  await expect(told).toHaveAttribute('href', `/findings/${BURST_FINDING}`);
});

test('M2: Explain and the page of the commit say what the finding says', async ({ page }) => {
  const finding = burst({ effects: [unheard()] });
  await changeAnswer<object>(page, /\/explain\?/, (body) => void Object.assign(body, { finding }));
  await changeAnswer<object>(
    page,
    /\/commits\/\d+$/,
    (body) => void Object.assign(body, { findings: [finding] }),
  );
  await page.goto(linkOf(BURST_LABELS));
  const told = page.getByRole('region', { name: 'Explain' }).getByRole('link', { name: /^Data files rose/ });
  await expect(told).toHaveAttribute('href', `/findings/${BURST_FINDING}`);
  await page.getByRole('link', { name: 'Open commit' }).first().click();
  await expect(page).toHaveURL(new RegExp(`/commits/${BURST_ID}$`));
  await expect(page.getByText('Caused:')).toBeVisible();
  await expect(page.getByRole('link', { name: /^Data files rose from 1,202/ })).toHaveAttribute(
    'href',
    `/findings/${BURST_FINDING}`,
  );
});

test('seen before: findings and commits of the table, with what was written on them (m22)', async ({
  page,
}) => {
  const note = { author: 'Ada', text: 'the shop again' };
  const earlier = [
    {
      ...{ kind: 'finding', id: BURST_FINDING, at: at('01:00'), ended_at: at('02:00'), code: 'file_burst' },
      ...{ severity: 'warning', closed_by: REPAIR_ID, writer: 'backfill', notes: 0, last_note: null },
    },
    {
      ...{ kind: 'commit', id: BURST_ID, at: at('01:00'), ended_at: null, code: null, severity: null },
      ...{ closed_by: null, writer: 'backfill', notes: 1, last_note: note },
    },
  ];
  await changeAnswer<object>(page, /\/alerts\/[0-9a-f]{16}/, (body) => void Object.assign(body, { earlier }));
  await page.goto(linkOf(BURST_LABELS));
  const before = page.getByRole('region', { name: 'Seen before' });
  await expect(before).toContainText('file burst by backfill, open for 1 h');
  await expect(before).toContainText('Ada: the shop again');
  await expect(before.getByRole('link', { name: `commit ${BURST_ID}` })).toHaveAttribute(
    'href',
    new RegExp(`/commits/${BURST_ID}$`),
  );
});
