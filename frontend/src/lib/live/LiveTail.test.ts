import { expect, test } from 'vitest';
import { LiveTail } from './LiveTail.svelte.ts';

const AT = Date.UTC(2026, 10, 21, 3, 4, 12);

function world() {
  let due: { at: number; then: () => void }[] = [];
  const now = { at: 0 };
  const state = { held: false, pending: false, asked: 0, said: [] as string[] };
  const tail = new LiveTail(
    {
      refresh: () => (state.asked += 1),
      pending: () => state.pending,
      held: () => state.held,
      shows: (at) => at === null || at >= AT,
      say: (text) => state.said.push(text),
    },
    {
      now: () => now.at,
      after: (ms, then) => {
        const wait = { at: now.at + ms, then };
        due.push(wait);
        return () => void (due = due.filter((each) => each !== wait));
      },
    },
  );
  const pass = (ms: number) => {
    now.at += ms;
    const over = due.filter(({ at }) => at <= now.at);
    due = due.filter(({ at }) => at > now.at);
    for (const { then } of over) then();
  };
  const commit = (id: string, t: number | null = AT, provisional = true) =>
    tail.commit({
      catalog: 'lake',
      table_namespace: 'sales',
      table: 'orders',
      snapshot_id: id,
      t,
      operation: 'append',
      added_data_files: 50_000,
      removed_data_files: null,
      provisional,
    });
  return { tail, state, pass, commit };
}

test('a table that changes is requested at once, then at most every two seconds', () => {
  const { tail, state, pass } = world();
  for (let i = 0; i < 10; i += 1) tail.moved();
  expect(state.asked).toBe(1);
  pass(2_000);
  expect(state.asked).toBe(2);
  pass(60_000);
  expect(state.asked).toBe(2);
});

test('an answer under way is waited for, so that a busy table is drawn at all', () => {
  const { tail, state, pass } = world();
  state.pending = true;
  tail.moved();
  pass(2_000);
  expect(state.asked).toBe(0);
  state.pending = false;
  pass(2_000);
  expect(state.asked).toBe(1);
});

test('under the pointer the view stays and counts what waits; then all comes at once', () => {
  const { tail, state, commit } = world();
  state.held = true;
  commit('1');
  tail.moved();
  commit('2');
  tail.moved();
  expect([state.asked, tail.waiting]).toEqual([0, 2]);
  state.held = false;
  tail.release();
  expect([state.asked, tail.waiting]).toEqual([1, 0]);
  tail.release();
  expect(state.asked).toBe(1);
});

test('a pointer that arrives before a pending request holds the view; the update can still be requested', () => {
  const { tail, state, pass, commit } = world();
  tail.moved();
  tail.moved();
  state.held = true;
  pass(2_000);
  expect(state.asked).toBe(1);
  commit('1');
  state.pending = true;
  tail.release();
  pass(2_000);
  state.pending = false;
  pass(2_000);
  expect([state.asked, tail.waiting]).toEqual([2, 0]);
});

test('a commit is counted and said once, though its row comes from the watcher and from the pipeline', () => {
  const { tail, state, commit, pass } = world();
  state.held = true;
  commit('7');
  commit('7', AT, false);
  pass(60_000);
  expect(tail.waiting).toBe(1);
  expect(state.said).toEqual(['New commit: append at 03:04:12 UTC, +50,000 data files']);
});

test('a storm of commits is one sentence in ten seconds', () => {
  const { state, commit, pass } = world();
  for (let i = 0; i < 30; i += 1) commit(String(i));
  pass(10_000);
  expect(state.said).toHaveLength(2);
  expect(state.said[1]).toBe('29 new commits');
});

test('a commit outside of what is shown is neither counted nor said', () => {
  const { tail, state, commit } = world();
  state.held = true;
  commit('1', AT - 1);
  expect([tail.waiting, state.said]).toEqual([0, []]);
});

test('another table begins with nothing', () => {
  const { tail, state, commit, pass } = world();
  commit('1');
  commit('2');
  tail.moved();
  tail.moved();
  tail.forget();
  pass(60_000);
  expect([tail.waiting, state.asked, state.said.length]).toEqual([0, 1, 1]);
});
