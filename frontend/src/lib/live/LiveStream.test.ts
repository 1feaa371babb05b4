import { expect, test } from 'vitest';
import { FIRST_WAIT_MS, HIDDEN_MS, LiveStream, LONGEST_WAIT_MS, type Source } from './LiveStream.ts';

/** An event source that the test opens, breaks and speaks through. */
class Line implements Source {
  readyState = 0;
  #heard = new Map<string, (event: { data?: unknown }) => void>();
  addEventListener(kind: string, heard: (event: { data?: unknown }) => void) {
    this.#heard.set(kind, heard);
  }
  close() {
    this.readyState = 2;
  }
  say(kind: string, data?: unknown) {
    this.#heard.get(kind)?.({ data: typeof data === 'string' ? data : JSON.stringify(data) });
  }
  open() {
    this.readyState = 1;
    this.say('open');
  }
  break(refused = false) {
    this.readyState = refused ? 2 : 0;
    this.say('error');
  }
}

function world(chance = 1) {
  const lines: Line[] = [];
  let waits: { ms: number; then: () => void }[] = [];
  let behind = 0;
  const stream = new LiveStream({
    open: () => (lines.push(new Line()), lines.at(-1) as Line),
    after: (ms, then) => {
      const wait = { ms, then };
      waits.push(wait);
      return () => void (waits = waits.filter((each) => each !== wait));
    },
    chance: () => chance,
  });
  stream.onBehind(() => (behind += 1));
  return {
    stream,
    lines,
    newest: () => lines.at(-1) as Line,
    waits: () => waits.map(({ ms }) => ms),
    pass: () => {
      const [first] = waits;
      waits = waits.slice(1);
      first?.then();
    },
    behind: () => behind,
  };
}

const MOVED = { catalog: 'lake', table_namespace: 'sales', table: 'orders', commits: 1 };

test('it opens when the page is visible, and passes events to its listeners', () => {
  const { stream, lines, newest, behind } = world();
  const heard: unknown[] = [];
  const end = stream.on('table', (event) => heard.push(event));
  stream.look(false);
  expect(lines).toHaveLength(0);
  stream.look(true);
  stream.look(true);
  newest().open();
  newest().say('table', MOVED);
  newest().say('commit', { table: 'orders' });
  end();
  newest().say('table', MOVED);
  expect([lines.length, stream.state, heard]).toEqual([1, 'open', [MOVED]]);
  expect(behind()).toBe(0);
});

test('after a first break the browser comes back by itself: no second connection, nothing missed', () => {
  const { stream, lines, newest, behind, waits } = world();
  stream.look(true);
  newest().open();
  newest().break();
  expect([stream.state, waits()]).toEqual(['lost', []]);
  newest().open();
  expect([stream.state, lines.length, behind()]).toEqual(['open', 1, 0]);
});

test('reconnects with exponential back-off, and reloads everything afterwards', () => {
  const { stream, newest, behind, waits, pass } = world();
  stream.look(true);
  newest().open();
  newest().break();
  const waited: number[] = [];
  for (let i = 0; i < 10; i += 1) {
    newest().break();
    waited.push(...waits());
    pass();
  }
  expect(waited.slice(0, 3)).toEqual([2, 4, 8].map((times) => times * FIRST_WAIT_MS));
  expect(waited.at(-1)).toBe(LONGEST_WAIT_MS);
  newest().open();
  expect([stream.state, behind()]).toEqual(['open', 1]);
});

test('who was cut off together does not come back together', () => {
  const waits = [0, 0.3, 1].map((chance) => {
    const one = world(chance);
    one.stream.look(true);
    one.newest().break(true);
    return one.waits()[0] as number;
  });
  expect(new Set(waits).size).toBe(3);
  for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(FIRST_WAIT_MS / 2);
});

test('a refused stream is reported as such until its next try', () => {
  const { stream, lines, newest, pass } = world();
  stream.look(true);
  newest().break(true);
  expect(stream.state).toBe('refused');
  pass();
  expect([stream.state, lines.length]).toEqual(['refused', 2]);
});

test('a page hidden for a long time disconnects, and reloads what it missed', () => {
  const { stream, newest, waits, pass, behind } = world();
  stream.look(true);
  newest().open();
  const first = newest();
  stream.look(false);
  expect(waits()).toEqual([HIDDEN_MS]);
  pass();
  expect([stream.state, first.readyState]).toEqual(['off', 2]);
  stream.look(true);
  newest().open();
  expect([stream.state, behind()]).toEqual(['open', 1]);
});

test('a glance away changes nothing', () => {
  const { stream, lines, newest, waits } = world();
  stream.look(true);
  newest().open();
  stream.look(false);
  stream.look(true);
  expect([stream.state, lines.length, waits()]).toEqual(['open', 1, []]);
});

test('a stream that breaks on a hidden page reopens only when it is visible', () => {
  const { stream, lines, newest, waits } = world();
  stream.look(true);
  newest().open();
  stream.look(false);
  newest().break(true);
  expect([stream.state, waits(), lines.length]).toEqual(['off', [], 1]);
});

test('looking away and back does not hurry a stream that waits for its turn by a second connection', () => {
  const { stream, lines, newest, waits, pass } = world();
  stream.look(true);
  newest().break(true);
  stream.look(false);
  stream.look(true);
  expect([lines.length, waits().length]).toEqual([1, 1]);
  pass();
  expect(lines.length).toBe(2);
});

test('a retry due on a hidden page waits until it is visible', () => {
  const { stream, lines, newest, waits, pass } = world();
  stream.look(true);
  newest().break(true);
  stream.look(false);
  pass();
  expect([stream.state, lines.length, waits()]).toEqual(['off', 1, []]);
  stream.look(true);
  expect(lines.length).toBe(2);
});

test('events lost by the server or cut by a proxy cause a reload', () => {
  const { stream, newest, behind } = world();
  stream.look(true);
  newest().open();
  newest().say('reset', { reason: 'new-server' });
  newest().say('table', '{"catalog": "la');
  expect(behind()).toBe(2);
});

test('a line that was given up is not listened to', () => {
  const { stream, newest, pass } = world();
  const heard: unknown[] = [];
  stream.on('table', (event) => heard.push(event));
  stream.look(true);
  const old = newest();
  old.break(true);
  pass();
  old.say('table', MOVED);
  old.open();
  expect([heard, stream.state]).toEqual([[], 'refused']);
});
