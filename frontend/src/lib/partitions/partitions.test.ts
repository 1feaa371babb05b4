import { expect, test } from 'vitest';
import { BURST, partitionRow, partitionsPage } from './fixtures.ts';
import { level, movePlace } from '#lib/ui/heat/heat.ts';
import { csv, headline, PartitionsView } from './PartitionsView.svelte.ts';
import { binName, cumulative, sizeChart, foldSmallBins } from './sizes.ts';
import { filesAt, instantAt, nudgeInstant, paths, xOf } from './track.ts';

const HOUR = 3_600_000;
const FRAME = { from: 0, to: 100 * HOUR, width: 132, left: 16, right: 16, top: 0, height: 10 };

function viewOf(query: string): PartitionsView {
  const view = new PartitionsView();
  view.read(new URLSearchParams(query), BURST);
  return view;
}

test('without instants in the address the range’s ends are compared', () => {
  const view = viewOf(`from=${BURST - 6 * HOUR}&to=${BURST}`);
  expect([view.before, view.at]).toEqual([BURST - 6 * HOUR, BURST]);
  expect(view.question.cmp).toBe(6 * 3600);
});

test('requests the whole range in whole minutes, at any second of a minute', () => {
  const view = new PartitionsView();
  view.read(new URLSearchParams('from=now-24h'), BURST + 41_234);
  const { from, to } = view.question as { from: number; to: number };
  expect(to - from).toBe(24 * HOUR);
  expect(to % 60_000).toBe(0);
  expect(to - (BURST + 41_234)).toBeLessThan(60_000);
});

test('an instant of the timeline and its period are those of this page', () => {
  const view = viewOf(`from=now-6h&at=${BURST - HOUR}&cmp=1h`);
  expect([view.before, view.at]).toEqual([BURST - 2 * HOUR, BURST - HOUR]);
  expect(view.question).toMatchObject({ at: BURST - HOUR, cmp: 3600, sort: 'data_files', dir: 'desc' });
});

test('moving a handle keeps the other where it is, and everything else of the address', () => {
  const view = viewOf(`from=now-6h&tz=UTC&at=${BURST - HOUR}&cmp=1h`);
  const moved = viewOf(view.withAt(BURST));
  expect([moved.before, moved.at]).toEqual([BURST - 2 * HOUR, BURST]);
  expect(view.withAt(BURST)).toContain('tz=UTC');
  const other = viewOf(view.withBefore(BURST - 3 * HOUR));
  expect([other.before, other.at]).toEqual([BURST - 3 * HOUR, BURST - HOUR]);
});

test('a filter is by fields, one after the other, and a slash in a value stays one', () => {
  const view = viewOf('partition=dt%3D2026-11-*');
  expect(view.conditions).toEqual({ dt: '2026-11-*' });
  const two = viewOf(view.withCondition('region', 'a/b'));
  expect(two.question.partition).toBe('dt=2026-11-*/region=a%2Fb');
  expect(viewOf(two.withCondition('dt', '')).conditions).toEqual({ region: 'a%2Fb' });
  expect(viewOf('partition=nonsense').filtered).toBe(false);
});

test('a column sorts the larger first, a second time the smaller, names from a', () => {
  const view = viewOf('');
  expect(viewOf(view.withSort('bytes')).question).toMatchObject({ sort: 'bytes', dir: 'desc' });
  expect(viewOf('sort=bytes').withSort('bytes')).toBe('?sort=bytes&dir=asc');
  expect(viewOf(view.withSort('partition')).direction).toBe('asc');
});

test('the page in a sentence is the partition that changed most', () => {
  expect(headline(partitionsPage())).toBe('dt=2026-11-20 grew from 84 to 50,084 files.');
  const still = partitionsPage({ rows: [partitionRow({ data_files_delta: 0 })] });
  expect(headline(still)).toBe('No partition changed between the two instants.');
});

test('a spreadsheet runs nothing that a partition is called', () => {
  const [, line] = csv([partitionRow({ partition: '=1+1"', bytes: null })]).split('\r\n');
  expect(line).toBe(
    `"'=1+1""",0,50084,0.978,50000,,1100000,50000,0,0.001,0,0,,1000000,2026-11-21T03:04:12.000Z`,
  );
});

test('bins below a megabyte are one, and shares add up to all', () => {
  const page = partitionsPage();
  const bins = foldSmallBins(page.edges, page.after.histogram, page.before?.histogram ?? null);
  expect([binName(bins.edges, 0), bins.after?.[0], bins.before?.[0]]).toEqual(['under 1 MiB', 50_003, 3]);
  expect(bins.after?.length).toBe(bins.edges.length + 1);
  expect(cumulative(bins.after)?.at(-1)).toBe(1);
  const box = { width: 480, left: 40, right: 8, top: 20, columns: 148, strip: 52, gap: 28 };
  const plot = sizeChart(bins, page.after.target_file_bytes, box);
  expect(plot?.bars.match(/M/g)?.length).toBe(2);
  expect(plot?.target?.width).toBeGreaterThan(20);
  expect(sizeChart(foldSmallBins(page.edges, null, null), null, box)).toBeNull();
});

test('a cell is darker by decades; nothing and not read are apart', () => {
  expect([0, 1, 84, 50_084, null].map((n) => level(n, 50_084))).toEqual([0, 1, 2, 4, null]);
  expect(movePlace({ row: 0, column: 0 }, 'ArrowUp', 5, 9)).toEqual({ row: 0, column: 0 });
  expect(movePlace({ row: 1, column: 3 }, 'End', 5, 9)).toEqual({ row: 1, column: 8 });
  expect(movePlace({ row: 1, column: 3 }, 'x', 5, 9)).toBeNull();
});

test('the track is a stepped line that what is not known breaks', () => {
  const track = { t: [0, 50 * HOUR, 75 * HOUR], data_files: [4, 16, null] };
  expect(paths(track, FRAME).line).toBe('M16.0 5.0H66.0V0.0H91.0');
  expect([filesAt(track, 10 * HOUR), filesAt(track, 60 * HOUR), filesAt(track, 80 * HOUR)]).toEqual([
    4,
    16,
    null,
  ]);
  expect(instantAt(xOf(20 * HOUR, FRAME), FRAME)).toBe(20 * HOUR);
  expect(nudgeInstant(50 * HOUR, 'ArrowRight', 0, 100 * HOUR)).toBe(51 * HOUR);
  expect(nudgeInstant(0, 'ArrowLeft', 0, 100 * HOUR)).toBe(0);
});
