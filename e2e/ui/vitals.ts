// What a browser itself counts while a page comes and a hand works on it: shifts of the layout, how long each interaction
// waited for its next picture, and what the main thread spent. The page's own clock stands still, so none of it is asked.
import type { CDPSession, Page } from '@playwright/test';

/** A phone of some years ago beside a developer's machine. */
const SLOWER = 4;

interface Seen {
  shift: number;
  /** What moved, by how much. */
  shifts: string[];
  /** By interaction, ms from the hand to the picture, and what it was. */
  interactions: Record<string, { ms: number; what: string }>;
}
declare global {
  interface Window {
    vitals: Seen;
  }
}
type Source = { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly };
type ShiftEntry = PerformanceEntry & { value: number; hadRecentInput: boolean; sources: Source[] };
type HandEntry = PerformanceEntry & { interactionId: number; target: Element | null };

/** Begins to count, on this page and each that follows. */
export async function watch(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen: Seen = { shift: 0, shifts: [], interactions: {} };
    window.vitals = seen;
    new PerformanceObserver((list) => {
      for (const { hadRecentInput, value, sources } of list.getEntries() as ShiftEntry[]) {
        if (hadRecentInput) continue;
        seen.shift += value;
        for (const { node, previousRect, currentRect } of sources) {
          const what =
            node instanceof Element ? `${node.tagName} ${node.className.toString()}` : node?.nodeName;
          seen.shifts.push(`${what} ${previousRect.y}→${currentRect.y} (${value.toFixed(3)})`);
        }
      }
    }).observe({ type: 'layout-shift', buffered: true });
    new PerformanceObserver((list) => {
      for (const { interactionId, duration, name, target } of list.getEntries() as HandEntry[]) {
        if (!interactionId || duration <= (seen.interactions[interactionId]?.ms ?? 0)) continue;
        const where = target?.getAttribute('aria-label') ?? target?.textContent?.trim().slice(0, 30) ?? '';
        seen.interactions[interactionId] = { ms: duration, what: `${name} ${where}` };
      }
    }).observe({ type: 'event', buffered: true, durationThreshold: 16 } as PerformanceObserverInit);
  });
}

/** Sum of all shifts that no hand caused. */
export const shiftOf = (page: Page): Promise<number> => page.evaluate(() => window.vitals.shift);

/** What moved, for the message of a test that fails. */
export const shiftsOf = (page: Page): Promise<string[]> => page.evaluate(() => window.vitals.shifts);

/** The slowest interaction of what a hand does, in ms, on a main thread a fourth as fast: the best of some rounds, because
 * a neighbour on this machine may take any one of them. Ends with the first round within `enough`. */
export async function slowest(
  page: Page,
  hand: () => Promise<void>,
  enough: number,
  rounds = 5,
): Promise<{ ms: number; what: string }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  let best = { ms: Infinity, what: 'nothing was done' };
  for (let round = 0; round < rounds && best.ms > enough; round += 1) {
    await page.evaluate(() => (window.vitals.interactions = {}));
    await hand();
    // entries come with the picture after their own
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    const all = Object.values(await page.evaluate(() => window.vitals.interactions));
    const worst = all.reduce((a, b) => (b.ms > a.ms ? b : a), { ms: 0, what: 'each below 16 ms' });
    if (worst.ms < best.ms) best = worst;
  }
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  await cdp.detach();
  return best;
}

/** CPU time in ms. */
export interface Spent {
  /** Script, styles and layout. */
  readonly code: number;
  /** All tasks, painting too. */
  readonly all: number;
}

/** What the page's main thread spent: the neighbours on this machine are not in it. */
export class MainThread {
  private constructor(readonly cdp: CDPSession) {}

  static async of(page: Page): Promise<MainThread> {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    return new MainThread(cdp);
  }

  async spent(): Promise<Spent> {
    const { metrics } = await this.cdp.send('Performance.getMetrics');
    const ms = (...names: string[]) =>
      metrics.reduce((sum, { name, value }) => sum + (names.includes(name) ? 1000 * value : 0), 0);
    return {
      code: ms('ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration'),
      all: ms('TaskDuration'),
    };
  }
}
