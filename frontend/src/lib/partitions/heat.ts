// Partitions over time as a grid: of each the most data files in each step. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { count, NOT_READ } from '#lib/format/count.ts';
import { clock, dayMonth } from '#lib/format/instant.ts';
import { level, type HeatRow } from '#lib/ui/heat/heat.ts';

type Heat = Schemas['PartitionHeat'];
const WHOLE = 'whole table';

/** Fields that every row has in the same order are named once: a row shows its values. Empty: rows differ. */
export function sharedFields({ rows }: Heat): string {
  const all = new Set(rows.map(({ partition }) => each(partition, (at, part) => part.slice(0, at))));
  return all.size === 1 ? ([...all][0] ?? '') : '';
}

/** `a=1/b=2`, its parts cut at their `=`. */
const each = (partition: string, cut: (at: number, part: string) => string): string =>
  partition
    .split('/')
    .map((part) => cut(part.indexOf('='), part))
    .join('/');

export const partsOf = ({ t, step }: Heat) =>
  t.map((from) => ({ from, said: `${dayMonth(from)} ${clock(from)} to ${clock(from + step)}` }));

export function heatOf({ rows }: Heat, shared: string): { rows: HeatRow[]; most: number } {
  const most = rows.reduce(
    (max, { data_files: files }) => files.reduce<number>((m, n) => Math.max(m, n ?? 0), max),
    1,
  );
  return {
    rows: rows.map(({ partition, spec_id: spec, data_files: files }) => ({
      key: `${spec} ${partition}`,
      name: partition || WHOLE,
      text: !partition ? WHOLE : shared ? each(partition, (at, part) => part.slice(at + 1)) : partition,
      cells: files.map((n) => ({
        level: level(n, most),
        text: n === null ? '' : count(n),
        said: n === null ? NOT_READ : `${count(n)} files`,
      })),
    })),
    most,
  };
}
