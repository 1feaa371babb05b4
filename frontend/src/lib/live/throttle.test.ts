import { expect, test } from 'vitest';
import { throttle } from './throttle.ts';

function world(gapMs: number) {
  let [now, runs] = [0, 0];
  let due: { at: number; then: () => void } | undefined;
  const call = throttle(() => (runs += 1), gapMs, {
    now: () => now,
    after: (ms, then) => {
      due = { at: now + ms, then };
      return () => (due = undefined);
    },
  });
  const pass = (ms: number) => {
    now += ms;
    if (due && due.at <= now) {
      const { then } = due;
      due = undefined;
      then();
    }
  };
  return { call, pass, runs: () => runs };
}

test('the first call runs at once, those that follow run once when the gap is over', () => {
  const { call, pass, runs } = world(100);
  for (let i = 0; i < 5; i += 1) call();
  expect(runs()).toBe(1);
  pass(99);
  expect(runs()).toBe(1);
  pass(1);
  expect(runs()).toBe(2);
  pass(500);
  expect(runs()).toBe(2);
  call();
  expect(runs()).toBe(3);
});

test('what waits can be forgotten', () => {
  const { call, pass, runs } = world(100);
  call();
  call();
  call.cancel();
  pass(200);
  expect(runs()).toBe(1);
});
