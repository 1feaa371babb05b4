// The dashboard is walked by clicking: each page that is reached is the one that its address opens. One theme at each width;
// LIMNOGRAPH_CRAWL=full walks every theme at every width.
import { Crawler } from './crawl.ts';
import { serveFacets } from './facets.ts';
import {
  BEFORE_FINDING,
  behind,
  burst,
  giveFindings,
  repaired,
  schemaChange,
  serveFindings,
} from './finding-story.ts';
import { expect, test } from './fixtures.ts';
import { NOW } from './moment.ts';

const THEMES = ['light', 'dark'] as const;
const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
] as const;
const STORY = [burst(), behind(), schemaChange(), repaired(), repaired({ finding_id: BEFORE_FINDING })];
const full = process.env['LIMNOGRAPH_CRAWL'] === 'full';

for (const [i, viewport] of SIZES.entries())
  for (const [j, colorScheme] of THEMES.entries())
    if (full || i === j)
      test(`every page by click, ${viewport.width} px, ${colorScheme}`, async ({ page, browser, stub }) => {
        // two minutes on a quiet machine; with every control half an hour
        test.setTimeout(full ? 3_600_000 : 720_000);
        stub.nearest = true;
        // a tab in the background of another draws once a second
        const other = await browser.newContext({
          baseURL: stub.url,
          timezoneId: 'America/New_York',
          locale: 'en-GB',
        });
        const beside = await other.newPage();
        await beside.clock.setFixedTime(NOW);
        for (const each of [page, beside]) {
          await each.context().grantPermissions(['clipboard-read', 'clipboard-write']);
          await each.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          await each.setViewportSize(viewport);
          await serveFacets(each);
          await serveFindings(each, STORY);
          await giveFindings(each, [burst(), repaired()]);
        }
        const crawler = new Crawler(page, beside, full);
        const found = await crawler.walk();
        await other.close();
        expect(found).toEqual([]);
      });
