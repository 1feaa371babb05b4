// Between the demo's day and the frozen one: a question is moved to the demo's clock, its answer back, so that all that is
// recorded plays on 21 November 2026. Nothing of the machine that recorded stays: paths, ports, what came after the clock.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { authorized, DEMO, demoToken } from '../demo-token.ts';
import { BURST_AT, BURST_ID, NOW } from './moment.ts';
import { questionOf, type Recorded } from './recordings.ts';
import { postAlerts } from './alert-story.ts';

const DAY = 86_400_000;
const EPOCH_MS = [1_500_000_000_000, 2_500_000_000_000] as const;
const SPOKEN_DAY = /\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b/g;
/** A server that has just read: how long ago everything later than the frozen clock seems to be. */
const JUST_NOW = 4_000;

interface Burst {
  readonly at: number;
  readonly snapshot_id: string;
}

export class Past {
  readonly #burst: Burst;
  /** Whole days: a step of the clock stays a step. */
  readonly #shift: number;
  /** Host and port of the demo's own. */
  readonly #alertmanager: string;
  #posted: Promise<void> | undefined;

  constructor() {
    const story = JSON.parse(readFileSync(join(DEMO, 'story.json'), 'utf8')) as { burst: Burst };
    this.#burst = story.burst;
    this.#shift = Math.round((story.burst.at - BURST_AT) / DAY) * DAY;
    if (story.burst.at - this.#shift !== BURST_AT) throw new Error('the story is not at 03:04:12 any more');
    const settings = readFileSync(join(DEMO, 'limnograph.toml'), 'utf8');
    this.#alertmanager = /\[alertmanager\]\s+url = "http:\/\/([^"]+)"/.exec(settings)![1]!;
  }

  /** The commit of the story as the demo knows it. */
  get burstId(): string {
    return this.#burst.snapshot_id;
  }

  /** Asks the real server what the page asked the stub. */
  async ask(server: string, url: URL): Promise<Recorded> {
    const real = new URL(url.pathname.replaceAll(BURST_ID, this.#burst.snapshot_id) + url.search, server);
    for (const [name, value] of url.searchParams)
      if (/^\d{13}$/.test(value)) real.searchParams.set(name, String(Number(value) + this.#shift));
    // alerts of the story: what was never told cannot be recorded
    await (this.#posted ??= postAlerts(server, this.#shift, demoToken()));
    const answer = await fetch(real, { redirect: 'manual', headers: authorized() });
    const location = answer.headers.get('location');
    const text = (location === null ? await answer.text() : JSON.stringify({ location }))
      .replaceAll(this.#burst.snapshot_id, BURST_ID)
      .replaceAll(DEMO, '/srv/lake')
      .replaceAll(this.#alertmanager, 'alertmanager.example:9093')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'metrics.example:9090')
      // what a link to Alertmanager is called: its host alone
      .replaceAll('127.0.0.1', 'alertmanager.example');
    return { asked: questionOf(url), status: answer.status, body: this.#moved(JSON.parse(text)) };
  }

  #moved(value: unknown, name = ''): unknown {
    if (Array.isArray(value))
      return value.filter((each) => !this.#later(each)).map((each) => this.#moved(each, name));
    if (value !== null && typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#moved(each, key)]));
    // a path of ours carries instants too
    if (typeof value === 'string' && value.startsWith('/'))
      return value.replaceAll(/(?<==)\d{13}\b/g, (ms) => String(Number(ms) - this.#shift));
    if (typeof value === 'string')
      return value
        .replaceAll(/\b20\d\d-\d\d-\d\d\b/g, (day) =>
          new Date(Date.parse(day) - this.#shift).toISOString().slice(0, 10),
        )
        .replaceAll(SPOKEN_DAY, (day) => this.#spoken(day));
    if (typeof value !== 'number') return value;
    if (/(^|_)(age|lag)_s$/.test(name)) return this.#age(value);
    if (!Number.isInteger(value)) return Number(value.toPrecision(6)); // small files
    if (value < EPOCH_MS[0] || value > EPOCH_MS[1]) return value;
    const moved = value - this.#shift;
    return moved > NOW ? NOW - JUST_NOW : moved;
  }

  /** `21 Nov`: the year is the one of the demo's day. */
  #spoken(day: string): string {
    const year = new Date(this.#burst.at).getUTCFullYear();
    const [date = '', month = ''] = new Date(Date.parse(`${day} ${year} UTC`) - this.#shift)
      .toUTCString()
      .split(' ')
      .slice(1);
    return `${Number(date)} ${month}`;
  }

  /** A commit or an operation that came after the frozen clock. */
  #later(each: unknown): boolean {
    if (typeof each !== 'object' || each === null) return false;
    const { t, committed_at: at } = each as { t?: unknown; committed_at?: unknown };
    return Number(t ?? at ?? 0) - this.#shift > NOW;
  }

  /** Seconds since something; what is newer than the frozen clock has just happened. */
  #age(seconds: number): number {
    const since = (Date.now() - this.#shift - NOW) / 1000;
    return seconds > since ? Math.round(seconds - since) : JUST_NOW / 1000;
  }
}
