import { beforeEach, describe, expect, test } from 'vitest';
import { Cursor } from '#lib/state/Cursor.svelte.ts';
import { BURST, DAY, NOW, story } from '#lib/timeline/fixtures/story.ts';
import { keepHours, MAX_WIDTH_MS } from '#lib/time/step.ts';
import { commitsOf } from '#lib/api/lanes.ts';
import { Navigation } from './navigation.ts';
import { timeScale } from '#lib/timeline/axes/scale.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const span = { from: DAY, to: NOW, step: 30 };
const scale = timeScale(DAY, NOW, 720);

let cursor: Cursor;
let ranges: [from: number, to: number][];
let navigation: Navigation;
let limits: string[];
let backs: number;
beforeEach(() => {
  backs = 0;
  cursor = new Cursor();
  [ranges, limits] = [[], []];
  const snapshot = () => ({
    span,
    scale,
    now: NOW,
    resting: cursor.at ?? NOW,
    newest: NOW,
    pin: cursor.pin,
    commits: commitsOf(story()),
  });
  navigation = new Navigation(cursor, snapshot, {
    range: (from, to) => ranges.push([from, to]),
    commit: () => undefined,
    compare: () => undefined,
    explain: () => undefined,
    back: () => (backs += 1),
    pause: () => undefined,
    marked: () => undefined,
    limit: (which) => limits.push(which),
  });
});

describe('range', () => {
  test('never narrower than a minute, around the same middle', () => {
    navigation.show(BURST, BURST + 2000, false);
    expect(ranges).toEqual([[BURST + 1000 - MINUTE / 2, BURST + 1000 + MINUTE / 2]]);
    expect(limits).toEqual(['narrowest']);
  });
  test('never wider than roll-ups reach, and both limits are said once they are met', () => {
    navigation.show(NOW - MAX_WIDTH_MS, NOW, false);
    expect(limits).toEqual([]);
    navigation.show(NOW - 2 * MAX_WIDTH_MS, NOW, false);
    const [from, to] = ranges.at(-1) as [number, number];
    expect([to - from, limits]).toEqual([MAX_WIDTH_MS, ['widest']]);
    keepHours(30);
    navigation.show(NOW - 400 * 24 * HOUR, NOW, false);
    const [begin, end] = ranges.at(-1) as [number, number];
    expect(end - begin).toBe(30 * 24 * HOUR);
    keepHours(400);
  });
  test('never into the future: zooming out at the right edge goes back in time', () => {
    navigation.zoomAround(NOW, 2, false);
    expect(ranges).toEqual([[DAY - 6 * HOUR, NOW]]);
    navigation.act({ do: 'pan', by: 0.5 });
    expect(ranges[1]).toEqual([DAY, NOW]);
  });
  test('a cluster opens with air around it', () => {
    const [first, second] = commitsOf(story());
    if (first && second) navigation.expand([first, second]);
    const [from, to] = ranges[0] ?? [0, 0];
    expect([from < (first?.t ?? 0), to > (second?.t ?? 0)]).toEqual([true, true]);
  });
});

describe('keys', () => {
  test('a mark is dropped at the cursor, on the step, and taken away by the same key', () => {
    cursor.at = BURST + 1;
    navigation.act({ do: 'mark' });
    cursor.at = BURST - HOUR;
    navigation.act({ do: 'mark' });
    expect(cursor.marks).toEqual([BURST - HOUR, BURST].map((at) => Math.round(at / 30_000) * 30_000));
    navigation.act({ do: 'mark' });
    expect(cursor.marks).toHaveLength(1);
  });
  test('a fitted selection is in the middle and stays selected', () => {
    cursor.selection = [DAY + HOUR, DAY + HOUR + 6 * MINUTE];
    navigation.act({ do: 'fit' });
    expect(ranges).toEqual([[DAY + HOUR - 2 * MINUTE, DAY + HOUR + 8 * MINUTE]]);
    expect(cursor.selection).not.toBeNull();
  });
  test('without a selection nothing is fitted', () => {
    navigation.act({ do: 'fit' });
    expect(ranges).toEqual([]);
  });
  test('Escape clears the selection, then the pin, then goes back a range', () => {
    [cursor.selection, cursor.pin] = [[DAY, DAY + HOUR], DAY];
    for (const left of [DAY, null, null]) {
      navigation.act({ do: 'clear' });
      expect([cursor.selection, cursor.pin]).toEqual([null, left]);
    }
    expect(backs).toBe(1);
  });
});

test('a range that is held moves with the pointer', () => {
  navigation.hold(400);
  navigation.drag(500);
  const [from] = ranges[0] ?? [0];
  expect(from).toBeCloseTo(DAY - 100 / (720 / (NOW - DAY)), 3);
  navigation.release(500, false);
  navigation.drag(600);
  expect(ranges).toHaveLength(1);
});

describe('touch', () => {
  const tap = (px: number) => {
    navigation.press(px);
    navigation.release(px, true);
  };
  test('two taps select, a third one starts over', () => {
    tap(120);
    expect([cursor.pin, cursor.selection]).toEqual([DAY + HOUR, null]);
    tap(240);
    expect(cursor.selection).toEqual([DAY + HOUR, DAY + 2 * HOUR]);
    tap(360);
    expect([cursor.pin, cursor.selection]).toEqual([DAY + 3 * HOUR, null]);
  });
});

test('a cancelled drag leaves the selection as it was', () => {
  cursor.selection = [DAY, DAY + HOUR];
  navigation.press(400);
  navigation.drag(600);
  expect(cursor.selection).not.toEqual([DAY, DAY + HOUR]);
  navigation.cancel();
  expect(cursor.selection).toEqual([DAY, DAY + HOUR]);
});
test('Escape clears the selection first, then the pin', () => {
  [cursor.selection, cursor.pin] = [[DAY, DAY + HOUR], DAY];
  navigation.act({ do: 'clear' });
  expect([cursor.selection, cursor.pin]).toEqual([null, DAY]);
  navigation.act({ do: 'clear' });
  expect(cursor.pin).toBeNull();
});
test('past the last commit the cursor stays', () => {
  cursor.at = NOW;
  navigation.act({ do: 'next' });
  expect(cursor.at).toBe(NOW);
});
