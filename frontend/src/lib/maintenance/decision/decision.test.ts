import { expect, test } from 'vitest';
import { DECISIONS, isMoving, promiseRows, stateWords, steps } from './words.ts';
import { planPath, promiseWords } from '#lib/effects/promise.ts';

const at = Date.UTC(2026, 10, 21, 6);
const transition = (seq: number, state: string) => ({
  ...{ seq, state, at: at + seq * 1000, attempt: 1, actor: 'ada', reason: null, policy: null, problem: null },
});
const nothing = {
  ...{ files_in: null, files_out: null, bytes_in: null, bytes_out: null, bytes_freed: null },
  ...{ seconds: null, cost: null },
};

test('a state that this version does not know is shown as it is', () => {
  expect(stateWords('resting')).toEqual({ text: 'resting', tone: 'unknown' });
  expect(stateWords('verified').tone).toBe('ok');
  expect(stateWords('failed').tone).toBe('crit');
});

test('the page asks again only while something happens without a user', () => {
  expect(['approved', 'running', 'committed', 'cancelling'].every(isMoving)).toBe(true);
  expect(['proposed', 'verified', 'dismissed', 'failed', 'resting'].some(isMoving)).toBe(false);
});

test('steps are done, now and to come, with the time of the newest attempt', () => {
  const history = [transition(1, 'proposed'), transition(2, 'approved'), transition(3, 'running')];
  expect(steps({ state: 'running', history }).map(({ state }) => state)).toEqual([
    ...['done', 'done', 'now', 'to come', 'to come'],
  ]);
  const again = [...history, transition(4, 'queued'), transition(5, 'running')];
  expect(steps({ state: 'running', history: again })[2]?.at).toBe(at + 5000);
  expect(steps({ state: 'verified', history }).every(({ state }) => state === 'done')).toBe(true);
  expect(steps({ state: 'dismissed', history })).toEqual([]);
});

test('the promise stands beside the result, and what is not known is not zero', () => {
  const result = {
    ...{ files_in: 40, files_out: 1, bytes_in: 9e6, bytes_out: null, bytes_freed: null, seconds: 12 },
    ...{ cost: null, snapshot_ids: ['1'], left_behind_files: 0, left_behind_bytes: 0, writers_failed: null },
  };
  const predicted = { ...nothing, files_in: 40, files_out: 1, seconds: { low: 5, mid: 9, high: 15 } };
  const rows = promiseRows({ predicted, result, currency: 'USD' });
  expect(rows.map(({ name }) => name)).toEqual([
    ...['Files replaced', 'Files written', 'Bytes read', 'Time', 'Cost'],
  ]);
  expect(rows[3]).toEqual({ name: 'Time', promised: '5 to 15 s', result: 'about 12 s' });
  expect(rows[4]?.result).toBe('not known');
  expect(promiseRows({ predicted, result: null, currency: 'USD' })).toEqual([]);
});

test('beside an effect, the promise is one line', () => {
  const sums = { ...nothing, seconds: null, cost: null };
  const result = {
    ...{ files_in: 1840, files_out: 23, bytes_in: null, bytes_out: null, bytes_freed: null, seconds: null },
    ...{
      cost: null,
      snapshot_ids: [],
      left_behind_files: null,
      left_behind_bytes: null,
      writers_failed: null,
    },
  };
  const promised = { ...sums, files_in: 1840, files_out: 22 };
  expect(promiseWords({ promised, result })).toBe(
    'promised 1,840 files into 22, confirmed 1,840 files into 23',
  );
  expect(promiseWords({ promised: { ...sums, bytes_freed: 4e9 }, result: null })).toBe(
    'promised 4.0 GB freed',
  );
  expect(promiseWords({ promised: sums, result: null })).toBe('');
});

test('every decision says what it does', () => {
  for (const { button, confirm, effect } of Object.values(DECISIONS)) {
    expect(confirm).not.toBe(button);
    expect(effect).toMatch(/\.$/);
  }
  expect(planPath('a/b')).toBe('/maintenance/plans/a%2Fb');
});
