// Axe finds nothing and leaves nothing undecided but contrast over patterns, which the token tests compute.
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

export async function accessible(page: Page): Promise<void> {
  // what is scrolled half below a sticky bar is not too small a target
  await page.evaluate(() => void (scrollY > 0 && scrollTo(0, 0)));
  // a colour half way to another is not a finding; a skeleton's shimmer never ends
  await page.evaluate(() => {
    const ending = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    const patience = new Promise((resolve) => setTimeout(resolve, 2_000));
    return Promise.race([Promise.allSettled(ending.map(({ finished }) => finished)), patience]);
  });
  let found = await analyse(page);
  // a page that is drawn anew under its eyes leaves axe undecided: it looks once more
  if (undecided(found).length) found = await analyse(page);
  expect(describe(found.violations)).toEqual([]);
  expect(describe(undecided(found))).toEqual([]);
}

type AxeResults = Awaited<ReturnType<AxeBuilder['analyze']>>;

const analyse = (page: Page): Promise<AxeResults> =>
  new AxeBuilder({ page })
    // what passed is not looked at; a page without frames needs no second page to put their results together
    .options({ resultTypes: ['violations', 'incomplete'] })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .setLegacyMode()
    .analyze();

const undecided = (found: AxeResults) => found.incomplete.filter(({ id }) => id !== 'color-contrast');

const describe = (results: AxeResults['violations']): string[] =>
  results.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
