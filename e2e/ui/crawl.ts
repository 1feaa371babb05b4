// Walks the dashboard by clicking, as far as three pages from the fleet, and lists what is not as it should be: a control
// that is missing or cannot be pressed, an answer of 5xx, a word on the console, a page that moves, a page that differs
// from the one that its address opens. One link for each kind of page and place, one button for each kind.
import type { Page, Response } from '@playwright/test';
import { watch } from './vitals.ts';

/** How far from the fleet. */
const DEPTH = 3;
/** Sum of layout shifts that no hand caused, per page. */
const MOST_SHIFT = 0.02;
/** How long a page may take to look as its address does, ms. */
const PATIENCE = 4_000;

/** A control of a page, one of its kind. */
interface Door {
  readonly key: string;
  /** Kind of the page that a link leads to; empty: a button. */
  readonly leads: string;
}
/** Roles and names, in order. */
type Frame = readonly string[];

const ROLES =
  /^\s*- '?((banner|navigation|main|region|complementary|contentinfo|heading|link|button|checkbox|radio|combobox|textbox|searchbox|slider|switch|tab|menuitem|spinbutton)\b.*)/;

/** Kind of an address: its path without what names a table or a record. */
export const kindOf = (address: string): string =>
  new URL(address).pathname
    .replace(/^\/t\/[^/]+\/[^/]+\/[^/]+/, '/t/*')
    .replace(/\/(commits|alerts|findings)\/(?!resolve)[^/]+$/, '/$1/*');

export class Crawler {
  readonly #problems = new Set<string>();
  readonly #explored = new Set<string>();
  readonly #known = new Set<string>();
  readonly #opened = new Map<string, Frame>();
  #where = 'fleet';
  #waiting = 0;
  /** Controls that were pressed. */
  pressed = 0;

  /** `page` walks; `beside` opens the same addresses. `full`: each control of each kind of page, not one of its kind in all. */
  constructor(
    readonly page: Page,
    readonly beside: Page,
    readonly full: boolean,
  ) {
    for (const each of [page, beside]) {
      each.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) this.#tell(`console: ${message.text()}`);
      });
      each.on('pageerror', (error) => this.#tell(`uncaught: ${String(error)}`));
      each.on('response', (response) => this.#heed(response));
    }
    page.on('request', () => (this.#waiting += 1));
    page.on('requestfinished', () => (this.#waiting -= 1));
    page.on('requestfailed', () => (this.#waiting -= 1));
  }

  /** All that was found wrong, each once. */
  async walk(): Promise<string[]> {
    await watch(this.page);
    await watch(this.beside);
    await this.page.goto('/');
    await this.#settle(this.page);
    await this.#explore(0, 'fleet');
    return [...this.#problems];
  }

  get kinds(): string[] {
    return [...this.#explored].toSorted();
  }

  async #explore(depth: number, way: string): Promise<void> {
    const { page } = this;
    const home = page.url();
    const here = kindOf(home);
    this.#explored.add(here);
    const frame = await this.#frame(page);
    const doors = this.#chosen(await doorsOf(page, !this.full), here);
    const further: Door[] = [];
    for (const door of doors) {
      this.#where = `${way} > ${door.key}`;
      if (!(await this.#press(door))) continue;
      if (door.leads || kindOf(page.url()) !== here) await this.#compare();
      const there = kindOf(page.url());
      const isNew = !this.#explored.has(there) && !further.some(({ leads }) => leads === there);
      if (door.leads && isNew && depth + 1 < DEPTH) further.push(door);
      await this.#return(home, frame, door);
    }
    for (const door of further) {
      if (this.#explored.has(door.leads)) continue;
      this.#where = `${way} > ${door.key}`;
      if (!(await this.#press(door))) continue;
      await this.#explore(depth + 1, this.#where);
      this.#where = way;
      await this.#return(home, frame, door);
    }
  }

  /** Controls that were not pressed elsewhere; and of each row of tabs one, another from each page. */
  #chosen(doors: Door[], here: string): Door[] {
    if (this.full) return doors;
    const turn = (tabs: Door[]) => tabs[here.length % tabs.length];
    const rows = ['Pages', 'Table pages'].map((row) => doors.filter(({ key }) => key.startsWith(`${row} →`)));
    const kept = doors.filter((door) => !this.#known.has(door.key));
    for (const { key } of doors) this.#known.add(key);
    return [...new Set([...kept, ...rows.map(turn).filter((door) => door !== undefined)])];
  }

  /** False: it cannot be pressed, and that is written down. */
  async #press(door: Door): Promise<boolean> {
    const target = await markDoor(this.page, door.key, !this.full);
    if (!target) {
      this.#tell('is missing');
      return false;
    }
    const before = this.page.url();
    try {
      await target.click({ timeout: PATIENCE });
    } catch (error) {
      this.#tell(`cannot be pressed: ${String(error).split('\n').slice(0, 4).join(' ')}`);
      return false;
    }
    this.pressed += 1;
    if (door.leads && door.leads !== kindOf(before)) await this.#leave(before);
    await this.#settle(this.page);
    return true;
  }

  /** Until the next page is drawn. That it takes the place of this one is no shift: only a slow machine counts it as one. */
  async #leave(before: string): Promise<void> {
    await this.page.waitForURL(({ href }) => href !== before, { timeout: PATIENCE }).catch(() => undefined);
    await this.page.evaluate(
      () =>
        new Promise<void>((done) => {
          const forget = () => (Object.assign(window.vitals, { shift: 0, shifts: [] }), done());
          // the observer reports a shift after its frame
          requestAnimationFrame(() => setTimeout(forget, 100));
        }),
    );
  }

  /** The page is the one that its address opens. */
  async #compare(): Promise<void> {
    const address = this.page.url();
    let opened = await this.#open(address);
    let now: Frame = [];
    for (const end = Date.now() + PATIENCE; Date.now() < end; await this.page.waitForTimeout(100)) {
      now = await this.#frame(this.page);
      if (same(now, opened)) return;
      // what is below the rest comes last
      if (this.beside.url() === address) this.#opened.set(address, (opened = await this.#frame(this.beside)));
    }
    this.#tell(`differs from ${new URL(address).pathname}: ${differences(now, opened)}`);
  }

  async #open(address: string): Promise<Frame> {
    const known = this.#opened.get(address);
    if (known) return known;
    await this.beside.goto(address);
    await this.#settle(this.beside);
    const shift = await this.beside.evaluate(() => window.vitals);
    if (shift.shift > MOST_SHIFT)
      this.#tell(
        `${new URL(address).pathname} moved by ${shift.shift.toFixed(3)}: ${shift.shifts.slice(0, 3)}`,
      );
    const frame = await this.#frame(this.beside);
    this.#opened.set(address, frame);
    return frame;
  }

  /** Back on the page of `home`, which looks as before. */
  async #return(home: string, frame: Frame, by: Door): Promise<void> {
    const { page } = this;
    await page.keyboard.press('Escape');
    const shift = await page.evaluate(() => window.vitals);
    // what a button opens has its place only then
    if (by.leads && shift.shift > MOST_SHIFT)
      this.#tell(`moved by ${shift.shift.toFixed(3)}: ${shift.shifts.slice(0, 3)}`);
    await page.evaluate(() => Object.assign(window.vitals, { shift: 0, shifts: [] }));
    // a button may have replaced the address
    for (let i = 0; i < 2 && by.leads && page.url() !== home; i += 1) {
      await page.goBack();
      await this.#settle(page);
    }
    if (page.url() !== home) return this.#reopen(home);
    for (const end = Date.now() + PATIENCE / 4; Date.now() < end; await page.waitForTimeout(100))
      if (same(await this.#frame(page), frame)) return;
    await this.#reopen(home);
  }

  async #reopen(home: string): Promise<void> {
    await this.page.goto(home);
    await this.#settle(this.page);
  }

  /** Until nothing is asked any more and nothing announces itself. */
  async #settle(page: Page): Promise<void> {
    await page
      .waitForFunction(
        () => document.querySelector('h1') && !document.querySelector('main [aria-busy=true], main .skel'),
        undefined,
        { timeout: 15_000 },
      )
      .catch(() => this.#tell('never comes to rest'));
    let before = '';
    for (let i = 0; i < 20; i += 1) {
      const now = `${await page.evaluate(() => document.body.innerHTML.length)} ${page === this.page ? this.#waiting : 0}`;
      if (now === before) return;
      before = now;
      await page.waitForTimeout(80);
    }
  }

  async #frame(page: Page): Promise<Frame> {
    const tree = await page.locator('body').ariaSnapshot();
    return tree.split('\n').flatMap((line) => {
      const name = ROLES.exec(line)?.[1];
      // where the time cursor is, is not a control
      return name ? [name.replace(/ \[active\]|:$|'|(?<=^slider "[^"]*"): .*/g, '')] : [];
    });
  }

  #heed(response: Response): void {
    if (response.status() >= 500) this.#tell(`${response.status()} of ${response.url()}`);
  }

  #tell(what: string): void {
    this.#problems.add(`${this.#where}: ${what}`);
  }
}

const same = (a: Frame, b: Frame): boolean => a.length === b.length && a.every((each, i) => each === b[i]);

function differences(now: Frame, opened: Frame): string {
  const left = [...now];
  const lost = opened.filter((each) => {
    const at = left.indexOf(each);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  const words = [
    ...lost.slice(0, 6).map((each) => `lacks ${each}`),
    ...left.slice(0, 6).map((each) => `has ${each} besides`),
  ];
  return words.join('; ') || 'another order';
}

/** What would write, leave the product or last: not for a walk. */
const LEFT_OUT = /Theme|Confirm|Rule out|Withdraw|Save|Delete|Print|Cancel|Log (in|out)/;

const doorsOf = async (page: Page, brief: boolean): Promise<Door[]> =>
  (await page.evaluate(listDoors, { leftOut: LEFT_OUT.source, brief })).doors;

async function markDoor(page: Page, key: string, brief: boolean) {
  for (const end = Date.now() + PATIENCE / 2; Date.now() < end; await page.waitForTimeout(100)) {
    const found = await page.evaluate(listDoors, { leftOut: LEFT_OUT.source, brief });
    const at = found.doors.findIndex((door) => door.key === key);
    if (at >= 0) return page.locator(`[data-door="${at}"]`);
  }
  return null;
}

/** In the page: the first control of each kind, marked with its place in the list. Prefers links to what was recorded.
 * `brief`: of buttons that stay pressed one of each state. */
function listDoors({ leftOut, brief }: { leftOut: string; brief: boolean }) {
  const kind = (address: string) =>
    new URL(address).pathname
      .replace(/^\/t\/[^/]+\/[^/]+\/[^/]+/, '/t/*')
      .replace(/\/(commits|alerts|findings)\/(?!resolve)[^/]+$/, '/$1/*');
  const said = (each: Element | null) =>
    (each?.getAttribute('aria-label') ?? (each?.textContent || each?.getAttribute('title')) ?? '')
      .replace(/\s+/g, ' ')
      .trim();
  const place = (each: Element) => {
    const region = each.closest(
      'nav, section, aside, [role=toolbar], [role=group], dialog, table, header, footer, main',
    );
    const label = region?.getAttribute('aria-labelledby');
    return (
      said(label ? document.getElementById(label) : null) ||
      region?.getAttribute('aria-label') ||
      (region?.tagName.toLowerCase() ?? '')
    );
  };
  const isShown = (each: HTMLElement) =>
    each.checkVisibility({ visibilityProperty: true }) && each.getBoundingClientRect().width > 1;
  const story = (each: Element) =>
    /customer_events\/commits\/5184430|customer_events|7c06d21c/.test((each as HTMLAnchorElement).href)
      ? 0
      : 1;
  for (const each of document.querySelectorAll('[data-door]')) each.removeAttribute('data-door');
  const all = [...document.querySelectorAll<HTMLElement>('a[href], button, summary')]
    .filter(
      (each) =>
        isShown(each) && !each.matches(':disabled, [aria-disabled=true], [aria-hidden=true] *, .skip'),
    )
    .filter(
      (each) =>
        !(each instanceof HTMLAnchorElement) ||
        (each.origin === location.origin && !each.target && !each.download && !each.hash),
    );
  const first = new Map<string, { element: HTMLElement; leads: string }>();
  const links = all.filter((each) => each.tagName === 'A').toSorted((a, b) => story(a) - story(b));
  for (const each of links) {
    const leads = kind((each as HTMLAnchorElement).href);
    if (/^\/docs\//.test(leads) || leads.startsWith('/api/')) continue;
    const key = `${place(each)} → ${leads}`.replace(/\d+/g, '#');
    if (!first.has(key)) first.set(key, { element: each, leads });
  }
  for (const each of all.filter((other) => other.tagName !== 'A')) {
    const name = each.closest('table, [role=grid], li, [role=group][aria-label=Commits]')
      ? 'one of its own'
      : brief && each.hasAttribute('aria-pressed')
        ? `pressed ${each.getAttribute('aria-pressed')}`
        : said(each)
            .replace(/[\d.,:–-]+/g, '#')
            .replace(/^.*# more$/, '# more')
            .slice(0, 40);
    if (new RegExp(leftOut).test(said(each))) continue;
    const key = `${place(each)} ${each.tagName.toLowerCase()} ${name}`.replace(/\d+/g, '#');
    if (!first.has(key)) first.set(key, { element: each, leads: '' });
  }
  const doors = [...first].map(([key, { element, leads }], at) => {
    element.setAttribute('data-door', String(at));
    return { key, leads };
  });
  return { doors };
}
