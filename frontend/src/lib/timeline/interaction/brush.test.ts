import { describe, expect, test } from 'vitest';
import { IDLE, between, drag, press, release, type Brush, type Ground, type Span } from './brush.ts';

const MINUTE = 60_000;
/** 100 minutes over 1,000 px. */
const ground: Ground = { from: 0, to: 100 * MINUTE, step: 60, px: (at) => at / 6000, at: (px) => px * 6000 };
const minutes = (span: Span | null) => span?.map((at) => at / MINUTE) ?? null;

function pull(selection: Span | null, from: number, ...to: number[]) {
  let brush: Brush = press(from, selection, ground);
  let seen: Span | null = selection;
  for (const px of to) {
    const next = drag(brush, px, ground);
    [brush, seen] = [next.brush, next.selection];
  }
  return { brush, seen, end: release(brush, to.at(-1) ?? from, ground) };
}

describe('brush', () => {
  test('less than six pixels is a click, snapped to the step', () => {
    const { seen, end } = pull(null, 399, 403);
    expect(seen).toBeNull();
    expect(end).toEqual({ selection: null, clicked: 40 * MINUTE });
  });
  test('a drag selects, its edges on the step', () => {
    expect(minutes(pull(null, 403, 500, 597).end.selection)).toEqual([40, 60]);
  });
  test('to the left it selects the same', () =>
    expect(minutes(pull(null, 600, 400).end.selection)).toEqual([40, 60]));
  test('once moved, going back to the start is no click', () => {
    expect(pull(null, 400, 500, 401).end).toEqual({ selection: null, clicked: null });
  });
  test('an edge is moved alone, and may pass the other', () => {
    const selection: Span = [40 * MINUTE, 60 * MINUTE];
    expect(minutes(pull(selection, 605, 700).end.selection)).toEqual([40, 70]);
    expect(minutes(pull(selection, 395, 800).end.selection)).toEqual([60, 80]);
  });
  test('the body moves as a whole and stops at the edge of the range', () => {
    const selection: Span = [40 * MINUTE, 60 * MINUTE];
    expect(minutes(pull(selection, 500, 550).end.selection)).toEqual([45, 65]);
    expect(minutes(pull(selection, 500, 2000).end.selection)).toEqual([80, 100]);
  });
  test('a click inside a selection keeps it', () => {
    const selection: Span = [40 * MINUTE, 60 * MINUTE];
    expect(pull(selection, 500, 502).end).toEqual({ selection, clicked: 50 * MINUTE });
  });
  test('nothing leaves the range', () =>
    expect(minutes(pull(null, 900, 1500).end.selection)).toEqual([90, 100]));
  test('idle stays idle', () => {
    expect(drag(IDLE, 5, ground)).toEqual({ brush: IDLE, selection: null });
    expect(release(IDLE, 5, ground)).toEqual({ selection: null, clicked: null });
  });
  test('two instants within one step are no span', () => expect(between(1000, 2000, ground)).toBeNull());
});
