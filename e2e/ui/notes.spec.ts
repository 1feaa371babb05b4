// What a team remembers: notes on findings, commits, ranges and tables, acknowledgements, and who owns a table.
import { BURST_FINDING, burst, serveFindings, type Finding } from './finding-story.ts';
import { TimelinePage } from '../timeline.ts';
import { changeAnswer, expect, expectOnly, test } from './fixtures.ts';
import { at, BURST_ID, NIGHT, NOW, TABLE } from './moment.ts';
import type { Detail, Timeline } from './wire.ts';

const HOSTILE = '<img src=x onerror=alert(1)> [click](https://evil.example) @channel\nsecond line';

test('a note on a finding is text, has an author, and is in the summary', async ({ page, stub }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await serveFindings(page, [burst()]);
  await page.goto(`/findings/${BURST_FINDING}`);
  const notes = page.getByRole('region', { name: 'Notes' });
  await expect(notes).toContainText('No notes yet');
  await notes.getByLabel('Your name').fill('Ada');
  await notes.getByLabel('Note on this finding').fill(HOSTILE);
  await notes.getByRole('button', { name: 'Add note' }).click();
  await expect(notes.getByRole('listitem')).toContainText(HOSTILE.replace('\n', ' '));
  await expect(notes.getByRole('listitem')).toContainText('Ada, ');
  expect(await page.locator('img[src=x]').count()).toBe(0);
  expect(stub.notebook.posted[0]).toMatchObject({
    scope: 'finding',
    target_id: BURST_FINDING,
    author: 'Ada',
  });

  await page.getByRole('button', { name: 'Copy summary as Markdown' }).click();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  expect(text).toContain('- Note by Ada');
  for (const bad of ['[click](', '@channel', 'https://evil']) expect(text).not.toContain(bad);

  await page.reload();
  await expect(notes.getByRole('listitem')).toContainText('second line');
  await expect(notes.getByLabel('Your name')).toHaveValue('Ada');
});

test('two users edit one note: neither text is lost', async ({ page, stub, complaints }) => {
  await serveFindings(page, [burst()]);
  const target = { scope: 'finding', target_id: BURST_FINDING };
  stub.notebook.post({ ...target, key: 'first', text: 'Compaction at 20:00', author: 'Ada' });
  await page.goto(`/findings/${BURST_FINDING}`);
  const notes = page.getByRole('region', { name: 'Notes' });
  await notes.getByRole('button', { name: 'Edit' }).click();
  await notes.getByLabel('Text of the note').fill('Compaction at 21:00');
  // another user is faster, and the page learns of it while the first one types
  stub.notebook.post({ key: 'second', replaces: 'n1-1', text: 'Compaction at 22:00', author: 'Bob' });
  const { lists } = stub.notebook;
  stub.tell('note', { note_id: 'n1' }, 'x-1');
  await expect.poll(() => stub.notebook.lists).toBeGreaterThan(lists);
  await expect(notes.getByLabel('Text of the note')).toHaveValue('Compaction at 21:00');
  await notes.getByRole('button', { name: 'Save' }).click();
  const conflict = notes.getByRole('alert');
  await expect(conflict).toContainText('Changed meanwhile by Bob');
  expectOnly(complaints, /409/);
  await expect(conflict).toContainText('Compaction at 22:00');
  await expect(conflict).toContainText('Compaction at 21:00');
  await conflict.getByRole('button', { name: 'Keep mine' }).click();
  await expect(notes.getByRole('listitem')).toContainText('Compaction at 21:00');
  await expect(notes.getByRole('listitem')).toContainText('edited');
  await notes.getByRole('button', { name: 'Delete' }).click();
  await expect(notes).toContainText('No notes yet');
});

test('M15: a finding is acknowledged until a time, leaves the list and comes back', async ({
  page,
  stub,
}) => {
  let rows: Finding[] = [burst()];
  await page.route(/\/api\/v1\/findings(\?|\/|$)/, async (route) => {
    const { answerOf } = await import('./finding-story.ts');
    const url = new URL(route.request().url());
    const hidden = rows.filter(({ acknowledged_until: until }) => until);
    const asked = url.searchParams.get('acknowledged');
    const shown = url.pathname.endsWith('/findings')
      ? asked === 'true'
        ? hidden
        : rows.filter(({ acknowledged_until: until }) => !until)
      : rows;
    return route.fulfill(answerOf(shown, url, { acknowledged: hidden.length }));
  });
  await page.goto(`/findings/${BURST_FINDING}`);
  await page.getByRole('button', { name: 'Acknowledge' }).click();
  const dialog = page.getByRole('dialog', { name: 'Acknowledge this finding' });
  await dialog.getByLabel('Reason, optional').fill('planned for tonight');
  rows = [burst({ acknowledged_until: NOW + 4 * 3_600_000, acknowledged_by: 'Ada' })];
  await dialog.getByRole('button', { name: '4 hours' }).click();
  await expect(page.getByRole('region', { name: 'Finding' })).toContainText(
    'Acknowledged until 21 Nov 2026, 10:00:00 UTC by Ada',
  );
  expect(stub.notebook.posted[0]).toMatchObject({ kind: 'ack', text: 'planned for tonight' });
  expect(stub.notebook.posted[0]!.until).toBe(NOW + 4 * 3_600_000);

  await page.goto('/findings');
  await expect(page.getByRole('link', { name: /Data files rose/ })).toHaveCount(0);
  await page.getByRole('link', { name: 'Acknowledged 1' }).click();
  await expect(page).toHaveURL(/acknowledged=true/);
  await expect(page.getByText(/acknowledged until/)).toBeVisible();
  await page.getByRole('link', { name: /Data files rose/ }).click();
  const end = page.getByRole('button', { name: 'End acknowledgement' });
  await expect(end).toBeVisible();
  rows = [burst()];
  await end.click();
  await expect(page.getByRole('button', { name: 'Acknowledge' })).toBeVisible();
});

test('a note on a range is written from the selection, and marked on the timeline', async ({
  page,
  stub,
}) => {
  await page.goto(`${TABLE}?${NIGHT}&sel=${at('03:00')}..${at('03:30')}`);
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'Note' }).click();
  const notes = page.getByRole('region', { name: 'Notes' });
  const field = notes.getByRole('textbox', { name: /^Note on / });
  await expect(field).toBeFocused();
  await field.fill('Backfill of the shop');
  await notes.getByRole('button', { name: 'Add note' }).click();
  await expect(notes.getByRole('listitem')).toContainText('Backfill of the shop');
  expect(stub.notebook.posted[0]).toMatchObject({ scope: 'range', from: at('03:00'), to: at('03:30') });
  const flag = page.getByRole('link', { name: /^Note by local/ });
  await expect(flag).toHaveAttribute('href', '#note-n1');
});

test('a table has an owner, which a user may change', async ({ page, stub }) => {
  let owner: string | null = 'data-core';
  await changeAnswer<Timeline>(page, /\/timeline\?.*detail=true/, ({ detail }) => {
    if (detail) Object.assign(detail, { owner });
  });
  await changeAnswer<Detail>(page, /\/api\/v1\/tables\/[^/]+\/[^/]+\/[^/?]+$/, (detail) => {
    Object.assign(detail, { owner });
  });
  await page.goto(`${TABLE}?${NIGHT}`);
  const notes = page.getByRole('region', { name: 'Notes' });
  await expect(notes).toContainText('Owner: data-core');
  await notes.getByRole('button', { name: 'Change' }).click();
  await notes.getByLabel('Owner of the table').fill('shop team');
  owner = 'shop team';
  await notes.getByRole('button', { name: 'Save' }).click();
  await expect(notes).toContainText('Owner: shop team');
  expect(stub.notebook.posted[0]).toMatchObject({ kind: 'owner', scope: 'table', text: 'shop team' });
});

test('a commit has notes, on a phone too; without the scope they are read only', async ({ page, stub }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await changeAnswer<{ scopes: string[] }>(page, /\/api\/v1\/status/, (status) => {
    status.scopes = ['read'];
  });
  const table = TABLE.slice(3).replaceAll('/', '.');
  stub.notebook.post({ key: 'k', scope: 'commit', table, target_id: BURST_ID, text: 'ours', author: 'Ada' });
  await page.goto(`${TABLE}/commits/${BURST_ID}`);
  const notes = page.getByRole('region', { name: 'Notes' });
  await expect(notes.getByRole('listitem')).toContainText('ours');
  await expect(notes).toContainText('Writing notes requires the annotate scope.');
  await expect(notes.getByRole('button')).toHaveCount(0);
});
