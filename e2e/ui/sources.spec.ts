// A source that fails, is late or stands still, and what happens meanwhile: nothing is ever blank, nothing pretends.
import { TimelinePage } from '../timeline.ts';
import { changeAnswer, expect, expectOnly, test } from './fixtures.ts';
import { at, NIGHT, NOW, TABLE } from './moment.ts';
import type { Fleet, Timeline } from './wire.ts';

test('Partial failure', async ({ page }) => {
  let broken = true;
  await changeAnswer<Timeline>(page, /\/timeline\?/, (body) => {
    if (!broken) return;
    for (const lane of body.lanes)
      if (lane.source === 'prometheus') {
        lane.status = 'error';
        lane.problem = {
          type: 'source-timeout',
          title: 'Source timed out',
          detail: 'main answered 504 after 5 s (request 7f3a)',
        };
      }
  });
  const timeline = new TimelinePage(page);
  await page.goto(`${TABLE}?${NIGHT}`);
  await timeline.drawn();
  const failed = timeline.panel.getByRole('group', { name: 'Job duration: failed' });
  await expect(failed).toContainText('main answered 504 after 5 s (request 7f3a)');
  for (const lane of ['Commits', 'Data files', 'File size', 'Delete files', 'Freshness'])
    await expect(timeline.drawing(lane)).toBeVisible();
  broken = false;
  await failed.getByRole('button', { name: /Retry/ }).click();
  await expect(timeline.drawing('Job duration')).toBeVisible();
  await expect(failed).toHaveCount(0);
});

test('Cold timeout', async ({ page, stub }) => {
  await changeAnswer<Timeline>(page, /\/timeline\?/, (body) => {
    body.watermark = at('03:01');
    const lane = body.lanes.find(({ id }) => id === 'job_duration');
    if (lane) Object.assign(lane, { status: 'stale', age_s: 59 * 60 });
  });
  const timeline = new TimelinePage(page);
  await page.goto(`${TABLE}?${NIGHT}`);
  await timeline.drawn();
  // a lane of a source that timed out shows its last response, with its age
  await expect(timeline.panel.locator('[data-lane=job_duration]')).toContainText('as of 05:01');
  const release = stub.hold();
  await timeline.drag('Data files', 0.4, 0.6);
  await page.keyboard.press('z');
  const waiting = page.getByRole('group', { name: 'Waiting' });
  await expect(waiting).toContainText(/No response for \d+ s/);
  await expect(waiting).toContainText('Showing data as of 03:01 UTC');
  await expect(waiting).toContainText(/No response for (8|9|\d\d) s/, { timeout: 20_000 }); // a slow machine may miss the eighth
  await expect(timeline.drawing('Data files')).toBeVisible();
  await waiting.getByRole('button', { name: 'Cancel' }).click();
  await expect(waiting).toContainText(/Cancelled after \d+ s/);
  await expect(timeline.drawing('Data files')).toBeVisible();
  const asked = stub.asked.length;
  release();
  await waiting.getByRole('button', { name: 'Retry' }).click();
  await expect(waiting).toHaveCount(0);
  expect(stub.asked.length).toBeGreaterThan(asked);
  await expect(timeline.drawing('Job duration')).toHaveAccessibleName(/at 0[23]:\d\d/);
});

test('Watermark', async ({ page }) => {
  const until = at('05:00');
  await changeAnswer<Timeline>(page, /\/timeline\?/, (body) => {
    body.watermark = until;
  });
  const timeline = new TimelinePage(page);
  await page.goto(`${TABLE}?${NIGHT}`);
  await timeline.drawn();
  await expect(timeline.panel.getByText('Metadata read up to 05:00:00')).toBeVisible();
  const drawing = (await timeline.drawing('Data files').boundingBox())!;
  const hatched = timeline.panel.locator('rect.unread');
  expect(await hatched.count()).toBeGreaterThanOrEqual(5);
  const places = await hatched.evaluateAll((all) =>
    all.map((each) => [each.getBoundingClientRect().left, each.getBoundingClientRect().right]),
  );
  for (const [left, right] of places) {
    expect(Math.abs(left! - (drawing.x + (drawing.width * 5) / 6))).toBeLessThan(2);
    expect(Math.abs(right! - (drawing.x + drawing.width))).toBeLessThan(3);
  }
  // nothing is said of what was not read: the cursor rests where knowledge ends
  await expect(timeline.slider).toHaveAttribute('aria-valuenow', String(until));

  await changeAnswer<Fleet>(page, /\/api\/v1\/tables\?/, (body) => {
    const row = body.rows.find(({ table }) => table === 'customer_events')!;
    row.reason = { ...row.reason, code: 'stale', severity: 'unknown', sentence: 'No metadata for 60 min' };
  });
  await page.goto('/');
  const row = page.getByRole('table').getByRole('row').filter({ hasText: 'customer_events' });
  await expect(row).toContainText(/stale/i);
  await expect(row).not.toContainText(/healthy|nothing stands out/i);
});

test('Live', async ({ page, stub, complaints }) => {
  const timeline = new TimelinePage(page);
  await page.goto(TABLE);
  await timeline.drawn();
  await expect.poll(() => stub.streams).toBe(1);
  // it asks by itself, a while after the lanes
  await expect(timeline.panel.getByRole('img', { name: /^Overview/ })).toBeVisible();
  let next = 0;
  const commit = () => {
    next += 1;
    const told = {
      ...{ catalog: 'lake', table_namespace: 'sales', table: 'customer_events' },
      ...{ snapshot_id: String(7_000_000_000_000_000_000n + BigInt(next)), t: NOW - 60_000 },
      ...{ operation: 'append', added_data_files: 7, removed_data_files: 0, provisional: true },
    };
    stub.tell('commit', told, `a-${next}`);
    const table = { catalog: 'lake', table_namespace: 'sales', table: 'customer_events' };
    stub.tell('table', { ...table, watermark: NOW }, `b-${next}`);
  };
  const asked = () => stub.asked.filter((question) => question.includes('/timeline?')).length;

  let before = asked();
  commit();
  await expect.poll(asked).toBeGreaterThan(before);
  await expect(page.getByRole('status')).toHaveText('New commit: append at 05:59:00 UTC, +7 data files');

  // under the pointer the view stays, and what came waits
  await timeline.hover('Data files', 0.4);
  await timeline.hover('Data files', 0.5);
  before = asked();
  commit();
  const pill = page.getByRole('button', { name: '1 new commit', exact: true });
  await expect(pill).toBeVisible();
  expect(asked()).toBe(before);
  await pill.click();
  await expect.poll(asked).toBeGreaterThan(before);
  await expect(pill).toHaveCount(0);

  // a stream that is lost says so, comes back, and catches up on what it missed
  stub.cut({ refuse: true });
  await expect(page.getByText('reconnecting')).toBeVisible();
  await expect.poll(() => stub.refused).toBeGreaterThan(0);
  before = asked();
  stub.accept();
  await expect.poll(() => stub.streams, { timeout: 30_000 }).toBe(2);
  await expect(page.getByText('reconnecting')).toHaveCount(0);
  await expect.poll(asked).toBeGreaterThan(before);
  expectOnly(complaints, /ERR_INCOMPLETE_CHUNKED_ENCODING|status of 503/);
});
