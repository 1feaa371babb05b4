// What every scenario on recorded answers starts with: a server of its own, a clock that stands still, a page whose
// console stays silent and whose policy is never broken.
import { expect, test as base, type Page } from '@playwright/test';
import { NOW } from './moment.ts';
import { Stub } from './stub.ts';

export { expect };

interface Fixtures {
  stub: Stub;
  /** Errors and warnings of the console, reports of the policy and uncaught errors so far; one who expects some empties it. */
  complaints: string[];
}

export const test = base.extend<Fixtures>({
  // Playwright demands the empty pattern
  stub: async ({}, use) => {
    const stub = await new Stub().open();
    await use(stub);
    await stub.close();
    if (stub.unknown.length)
      throw new Error(`not recorded (see CONTRIBUTING.md):\n${[...new Set(stub.unknown)].join('\n')}`);
  },
  baseURL: async ({ stub }, use) => use(stub.url),
  complaints: [
    async ({ page, stub }, use) => {
      const seen: string[] = [];
      page.on('console', (message) => {
        // a test that leaves the recorded answers gets 501 for the others, some of them after its last step
        const expected = !stub.records && message.text().includes('501');
        if (['error', 'warning'].includes(message.type()) && !expected) seen.push(message.text());
      });
      page.on('pageerror', (error) => seen.push(String(error)));
      await page.clock.setFixedTime(NOW);
      await page.addInitScript(() => {
        addEventListener('securitypolicyviolation', (event) =>
          console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
        );
      });
      await use(seen);
      await page.close(); // before the server goes: its stream would complain
      const left = seen.filter((text) => !excused.get(seen)?.test(text));
      if (left.length) throw new Error(`the console complained:\n${left.join('\n')}`);
    },
    { auto: true },
  ],
});

/** Changes recorded answers on their way: `change` gets the body and edits it. */
export async function changeAnswer<T>(page: Page, pattern: RegExp, change: (body: T) => void): Promise<void> {
  await page.route(pattern, async (route) => {
    try {
      const answer = await route.fetch();
      const body = (await answer.json()) as T;
      change(body);
      await route.fulfill({ response: answer, json: body });
    } catch (error) {
      // a request that outlives the last step of a test ends with its page
      if (!page.isClosed()) throw error;
    }
  });
}

/** Complaints that a scenario expects, by its list. */
const excused = new WeakMap<string[], RegExp>();

/**
 * What the browser itself notes of a failure that the scenario made; nothing else may complain, until its end: a second
 * request of the page may fail after the check.
 */
export function expectOnly(complaints: string[], known: RegExp): void {
  expect(complaints.filter((text) => !known.test(text))).toEqual([]);
  complaints.length = 0;
  excused.set(complaints, known);
}
