import { afterEach, expect, test, vi } from 'vitest';
import { follow } from './follow.ts';

afterEach(() => vi.useRealTimers());

test('a visible page polls now and then, and not after its end', () => {
  vi.useFakeTimers();
  const [refresh, heard] = [Object.assign(vi.fn(), { cancel: vi.fn() }), vi.fn()];
  let polls = true;
  const end = follow(refresh, [heard], () => polls);
  vi.advanceTimersByTime(60_000);
  const asked = refresh.mock.calls.length;
  expect(asked).toBeGreaterThan(0);
  polls = false;
  vi.advanceTimersByTime(60_000);
  expect(refresh).toHaveBeenCalledTimes(asked);
  polls = true;
  end();
  vi.advanceTimersByTime(60_000);
  expect(refresh).toHaveBeenCalledTimes(asked);
  expect([heard.mock.calls.length, refresh.cancel.mock.calls.length]).toEqual([1, 1]);
});
