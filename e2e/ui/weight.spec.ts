// How little a page needs: one question when it is opened cold, and no jumps while it comes. What a hand waits for:
// `hand.spec.ts`; bytes of the first load: `npm run budget`.
import { TimelinePage } from '../timeline.ts';
import { changeAnswer, expect, test } from './fixtures.ts';
import { NIGHT, TABLE } from './moment.ts';
import { VIEWS } from './pages.ts';
import { shiftOf, shiftsOf, watch } from './vitals.ts';
import type { Detail, Timeline } from './wire.ts';

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

/** The verdict, the overview, the next action and the forecast come after the rest, as they do from a real server. */
const LATER = /\/explain\?|lanes=alerts(%2C|,)commits&|\/runbooks\/|\/status$|\/(maintenance|forecast)$/;

for (const { width, height } of [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
])
  for (const view of VIEWS.filter(({ asks }) => asks || width > 390))
    test(`${view.name}, ${width} px: the layout does not jump while the page comes`, async ({
      page,
      stub,
    }) => {
      await page.setViewportSize({ width, height });
      await watch(page);
      await page.route(LATER, async (route) => {
        await new Promise((done) => setTimeout(done, 400));
        await route.fallback();
      });
      const release = stub.hold();
      await page.goto(view.path, { waitUntil: 'commit' });
      if (view.asks) await expect(page.locator('[aria-busy=true]').first()).toBeVisible();
      release();
      await view.drawn(page);
      await expect.poll(() => stub.streams).toBe(1);
      await page.waitForLoadState('networkidle').catch(() => undefined);
      expect(await shiftOf(page), JSON.stringify(await shiftsOf(page))).toBeLessThan(0.02);
    });

const PHONE = { width: 390, height: 844 };
const JOBS = ['rollup_customer_events', 'daily_revenue'].map((name) => ({
  name,
  role: 'reads',
  grade: 'declared',
}));
const KINDS: Record<string, Partial<Detail>> = {
  'a job and a ref to choose': { jobs: JOBS, refs: ['main', 'audit'].map((name) => ({ name })) },
  'no job': { jobs: [] },
};
for (const [kind, detail] of Object.entries(KINDS))
  test(`a table with ${kind}, 390 px: nothing jumps either`, async ({ page, stub }) => {
    await page.setViewportSize(PHONE);
    await watch(page);
    await changeAnswer<Timeline>(page, /detail=true/, (body) => void Object.assign(body.detail!, detail));
    const release = stub.hold();
    await page.goto(`${TABLE}?${NIGHT}`, { waitUntil: 'commit' });
    await expect(page.locator('[aria-busy=true]').first()).toBeVisible();
    release();
    await new TimelinePage(page).drawn();
    if (detail.refs) await expect(page.getByLabel('Ref: main', { exact: true })).toBeVisible();
    await expect.poll(() => stub.streams).toBe(1);
    expect(await shiftOf(page), JSON.stringify(await shiftsOf(page))).toBeLessThan(0.02);
  });
