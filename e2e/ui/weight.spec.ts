// How little a page needs: one question when it is opened cold, and no jumps while it comes. What a hand waits for:
// `hand.spec.ts`; bytes of the first load: `npm run budget`.
import { TimelinePage } from '../timeline.ts';
import { expect, test } from './fixtures.ts';
import { NIGHT, TABLE } from './moment.ts';
import { VIEWS } from './pages.ts';
import { shiftOf, watch } from './vitals.ts';

test('a table page opens with one document, files of the build, and one question', async ({ page, stub }) => {
  await page.goto(`${TABLE}?${NIGHT}`);
  await new TimelinePage(page).drawn();
  await expect(page.getByRole('region', { name: 'Table state' })).toContainText('50,000 files in one append');
  expect(stub.sent.filter((path) => !/^\/(_app\/|theme\.js|icon\.svg)/.test(path))).toEqual([TABLE]);
  // what surrounds the page comes after it
  await expect.poll(() => stub.streams).toBe(1);
  const timeline = `/api/v1/tables${TABLE.slice(2)}/timeline`;
  expect(stub.log.slice(0, 2)).toEqual([`asked ${timeline}`, `answered ${timeline}`]);
  expect(stub.asked[0]).toContain('detail=true&');
  await expect.poll(() => stub.asked).toContain('/api/v1/status');

  // what has a name of its own content is asked for once; parts that come late may come after the reload for the first time
  const files = new Set(stub.sent.filter((path) => path.startsWith('/_app/immutable/')));
  const asked = stub.sent.length;
  await page.reload();
  await new TimelinePage(page).drawn();
  expect(files.size).toBeGreaterThan(10);
  expect(stub.sent.slice(asked).filter((path) => files.has(path))).toEqual([]);
});

for (const view of VIEWS)
  test(`${view.name}: the layout does not jump while the page comes`, async ({ page, stub }) => {
    await watch(page);
    const release = stub.hold();
    await page.goto(view.path, { waitUntil: 'commit' });
    if (view.asks) await expect(page.locator('[aria-busy=true]').first()).toBeVisible();
    release();
    await view.drawn(page);
    await expect.poll(() => stub.streams).toBe(1);
    expect(await shiftOf(page)).toBeLessThan(0.02);
  });
