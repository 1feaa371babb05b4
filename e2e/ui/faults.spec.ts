// Answers that fail, on every page: a cause in words, the rest of the page stands, and another try heals it.
import type { Route } from '@playwright/test';
import { expect, expectOnly, test } from './fixtures.ts';
import { TABLE } from './moment.ts';
import { VIEWS } from './pages.ts';

const PROBLEM = {
  type: 'source-timeout',
  title: 'Source timed out',
  status: 504,
  detail: 'meta gave no answer in 8 s',
};
const FAULTS: Record<string, { answer: (route: Route) => Promise<void>; says: RegExp }> = {
  '504': {
    answer: (route) =>
      route.fulfill({
        status: 504,
        contentType: 'application/problem+json',
        json: { ...PROBLEM, request_id: '7f3a' },
      }),
    says: /Source timed out. Meta gave no answer in 8 s/,
  },
  'malformed JSON': {
    answer: (route) => route.fulfill({ contentType: 'application/json', body: '{"rows": [' }),
    says: /The answer is not valid JSON/,
  },
  'aborted stream': { answer: (route) => route.abort('connectionreset'), says: /The server does not answer/ },
};
const DATA = /\/api\/v1\/(?!stream)/;

for (const view of VIEWS.filter(({ name }) => name !== 'settings'))
  // which asks nothing
  for (const [fault, { answer, says }] of Object.entries(FAULTS))
    test(`${view.name}: ${fault} is told, and another try heals it`, async ({ page, complaints }) => {
      await page.route(DATA, answer);
      await page.goto(view.path);
      await expect(page.getByRole('main')).toContainText(says);
      await expect(page.getByRole('navigation').first()).toBeVisible();
      await page.unroute(DATA);
      await page
        .getByRole('main')
        .getByRole('button', { name: /retry|try again/i })
        .first()
        .click();
      await view.drawn(page);
      expectOnly(complaints, /Failed to load resource/);
    });

test('an answer that takes 8 s shows the shape of the page meanwhile, and then the page', async ({
  page,
  stub,
}) => {
  const release = stub.hold();
  await page.goto(TABLE);
  await expect(page.locator('[aria-busy=true]').first()).toBeVisible();
  await page.waitForTimeout(8_000);
  await expect(page.locator('[aria-busy=true]').first()).toBeVisible();
  release();
  await VIEWS[1]!.drawn(page);
});

test('401 leads to the login once, with the way back', async ({ page, complaints }) => {
  await page.route(DATA, (route) =>
    route.fulfill({
      status: 401,
      contentType: 'application/problem+json',
      json: { ...PROBLEM, status: 401 },
    }),
  );
  await page.goto(`${TABLE}?from=now-6h`);
  await expect(page).toHaveURL(/\/login\?next=%2Ft%2Flake%2Fsales%2Fcustomer_events%3Ffrom%3Dnow-6h/);
  expectOnly(complaints, /Failed to load resource/);
});
