import { expect, test } from 'vitest';
import { writeUrl } from '#lib/time/url.ts';
import { TimelineView } from './TimelineView.svelte.ts';

const FROM = Date.UTC(2026, 10, 21);
const HOUR = 3_600_000;
const read = (text: string) => {
  const view = new TimelineView();
  view.read(new URLSearchParams(text));
  return view;
};

test('without a word in the URL it shows the last 24 hours, and the URL stays empty', () => {
  const view = read('');
  expect([view.range.text, view.range.range.relative]).toEqual([{ from: 'now-24h', to: 'now' }, true]);
  expect(writeUrl(view.url, new URLSearchParams())).toBe('');
});
test('what the URL says is shown and written again', () => {
  const text = `?from=${FROM}&to=${FROM + 6 * HOUR}&at=${FROM + HOUR}&a=${FROM}&marks=${FROM},${FROM + HOUR}&sel=${FROM}..${FROM + HOUR}&c=5184430069070270604&lanes=commits,alerts&log=data_files&job=churn`;
  const view = read(text);
  expect(view.commit).toBe('5184430069070270604');
  expect(view.range.span).toEqual({ from: FROM, to: FROM + 6 * HOUR, step: 30 });
  expect(decodeURIComponent(writeUrl(view.url, new URLSearchParams()))).toBe(text);
});
test('what cannot be read is named', () =>
  expect(read('from=soon&c=abc&marks=1,soon').unread).toEqual(['from', 'marks', 'c']));
test('unknown and duplicate lanes are named, and the others are shown', () => {
  const view = read('lanes=commits,foo,alerts,commits');
  expect([view.lanes, view.unread]).toEqual([['commits', 'alerts'], ['lanes']]);
  expect(read('lanes=foo').lanes).toBeNull();
  expect(read('lanes=commits').unread).toEqual([]);
});
test('a range longer than an answer has days is named, and the usual one is shown', () => {
  const view = read('from=now-10000d');
  expect([view.range.text.from, view.unread]).toEqual(['now-24h', ['from']]);
});
test('no lane on a logarithmic axis is said too, and marks come in time order, each once', () => {
  const view = read('log=none&marks=3000000000000,2000000000000,3000000000000');
  expect([view.log, view.cursor.marks]).toEqual([[], [2e12, 3e12]]);
});
test('zooms are undone one by one, a glide at once', () => {
  const view = read(`from=${FROM}&to=${FROM + 6 * HOUR}`);
  view.zoom(FROM + HOUR, FROM + 2 * HOUR, false);
  for (const by of [1, 2, 3]) view.zoom(FROM + HOUR + by, FROM + 2 * HOUR - by, true);
  expect(view.back()).toBe(true);
  expect(view.range.span.from).toBe(FROM + HOUR);
  expect(view.back()).toBe(true);
  expect(view.range.span.from).toBe(FROM);
  expect(view.back()).toBe(false);
});
test('the trail holds the ranges around what is shown, widest first, and leads back to each', () => {
  const view = read(`from=${FROM}&to=${FROM + 6 * HOUR}`);
  view.zoom(FROM + HOUR, FROM + 3 * HOUR, false);
  view.zoom(FROM + 2 * HOUR, FROM + 4 * HOUR, false); // moved, not zoomed: the range before does not hold it
  view.zoom(FROM + 2 * HOUR, FROM + 3 * HOUR, false);
  const widths = () => view.trail.map(({ ms }) => ms / HOUR);
  expect(widths()).toEqual([6, 2]);
  view.backTo(view.trail[1]!);
  expect([view.range.span.to - FROM, widths()]).toEqual([4 * HOUR, [6]]);
  view.backTo(view.trail[0]!);
  expect([view.range.span.to - FROM, widths()]).toEqual([6 * HOUR, []]);
  expect(view.back()).toBe(false);
});
test('an alert without a range awaits its window; a range of its own goes before it, and one that is not known is named', () => {
  const window = { from: String(FROM), to: String(FROM + HOUR) };
  const alone = read('alert=0123456789abcdef');
  expect(alone.awaits).toBe(true);
  alone.place(window);
  expect([alone.range.text, alone.awaits]).toEqual([window, false]);
  const placed = read(`alert=0123456789abcdef&from=${FROM}&to=${FROM + 2 * HOUR}`);
  placed.place(window);
  expect(placed.range.span.to).toBe(FROM + 2 * HOUR);
  const unknown = read('alert=0123456789abcdef');
  unknown.place(null);
  expect([unknown.unread, unknown.range.text.from]).toEqual([['alert'], 'now-24h']);
});
test('a comparison with the period just before is as long as what was selected', () => {
  const view = read(`from=${FROM}&to=${FROM + 6 * HOUR}`);
  view.compare(90);
  expect(writeUrl(view.url, new URLSearchParams())).toContain('cmp=90s');
  view.compare();
  expect(view.cmp).toBeNull();
});
test('the span is the same object until it moves by a step', () => {
  const view = read('from=now-6h');
  view.range.tick(FROM + 1000);
  const before = view.range.span;
  view.range.tick(FROM + 2000);
  expect(view.range.span).toBe(before);
  view.range.tick(FROM + 62_000);
  expect(view.range.span).not.toBe(before);
});
