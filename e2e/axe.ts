// Axe finds nothing and leaves nothing undecided but contrast over patterns, which the token tests compute.
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

export async function accessible(page: Page): Promise<void> {
  // a colour that is half way to another is nobody's fault
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
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
