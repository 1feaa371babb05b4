// How little a page needs: one question when it is opened cold, no jumps, quick answers to a hand. Floors with room: the
// machine that runs this is shared; `bench/web` measures.
import { TimelinePage } from '../timeline.ts';
import { expect, test } from './fixtures.ts';
import { NIGHT, TABLE } from './moment.ts';

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

test('the layout does not jump while a page comes, and a hand is answered at once', async ({
  page,
  stub,
}) => {
  await page.addInitScript(() => {
    const seen = { shift: 0, slowest: 0 };
    Object.assign(globalThis, { seen });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number;
        hadRecentInput: boolean;
      })[])
        if (!entry.hadRecentInput) seen.shift += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { interactionId: number })[])
        if (entry.interactionId) seen.slowest = Math.max(seen.slowest, entry.duration);
    }).observe({ type: 'event', buffered: true, durationThreshold: 16 } as PerformanceObserverInit);
  });
  const release = stub.hold();
  await page.goto(`${TABLE}?${NIGHT}`);
  await expect(page.locator('[aria-busy=true]').first()).toBeVisible();
  release();
  const timeline = new TimelinePage(page);
  await timeline.drawn();
  await expect.poll(() => stub.streams).toBe(1);
  const seen = () =>
    page.evaluate(() => (globalThis as unknown as { seen: { shift: number; slowest: number } }).seen);
  expect((await seen()).shift).toBeLessThan(0.02);

  await timeline.hover('Data files', 0.5);
  await page.mouse.click(700, 600);
  for (let i = 0; i < 10; i += 1) await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('w');
  await expect
    .poll(async () => (await timeline.range())[1] - (await timeline.range())[0])
    .toBeLessThan(6 * 3_600_000);
  const { slowest } = await seen();
  console.info(`slowest interaction ${slowest} ms (goal 200 at a fourth of the speed)`);
  expect(slowest).toBeLessThan(1_000);
});
