import { beforeEach, expect, test, vi } from 'vitest';
import { afterFirstAnswer, firstQuestion } from './first-question.ts';

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

test('status waits for the answer that the page is about', async () => {
  const [one, two] = [firstQuestion(), firstQuestion()];
  const asked = vi.fn();
  afterFirstAnswer(asked);
  await vi.advanceTimersByTimeAsync(500);
  one();
  expect(asked).not.toHaveBeenCalled();
  two();
  expect(asked).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked).toHaveBeenCalledTimes(1);
});

test('a page without a question does not hold it up, and one that takes long only for a second', async () => {
  const [quick, late] = [vi.fn(), vi.fn()];
  afterFirstAnswer(quick);
  await vi.advanceTimersByTimeAsync(1);
  expect(quick).toHaveBeenCalledTimes(1);
  const answered = firstQuestion();
  afterFirstAnswer(late);
  await vi.advanceTimersByTimeAsync(1_001);
  expect(late).toHaveBeenCalledTimes(1);
  answered();
  expect(late).toHaveBeenCalledTimes(1);
});

test('who left is not called', async () => {
  const asked = vi.fn();
  afterFirstAnswer(asked)();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked).not.toHaveBeenCalled();
});
