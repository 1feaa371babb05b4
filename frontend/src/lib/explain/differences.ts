// What is different about the commits of the range, as pairs of bars: the range filled, the baseline outlined. Pure.
import { bytes } from '#lib/format/bytes.ts';
import { brief, percent } from '#lib/format/count.ts';
import type { Page } from './case.ts';

type Difference = Page['differences'][number];

export interface Bars {
  readonly key: string;
  readonly name: string;
  /** Numbers in their unit, and how long their bars are, 0 to 1. */
  readonly selected: string;
  readonly baseline: string;
  readonly selectedWidth: number;
  readonly baselineWidth: number;
}

const NAMES = {
  file_size: 'Average added file',
  files: 'Files added per commit',
  delete_files: 'Delete files per commit',
  records: 'Rows added per commit',
  partitions: 'Partitions per commit',
  commits: 'Commits per hour',
} as const;
/** Nothing to measure is not a bar of length nothing. */
const NONE = 'none';

function say(unit: Difference['unit'], value: number | null): string {
  if (value === null) return NONE;
  if (unit === 'bytes') return bytes(value);
  if (unit === 'share') return percent(value);
  if (value !== 0 && Math.abs(value) < 10) return String(Number(value.toFixed(1)));
  return brief(value);
}

export function barsOf({ part, value, unit, selected, baseline }: Difference): Bars {
  const most = unit === 'share' ? 1 : Math.max(selected ?? 0, baseline ?? 0);
  const width = (of: number | null) => (of === null || most <= 0 ? 0 : Math.min(1, of / most));
  const files = part === 'table' ? 'Files in' : 'Files:';
  return {
    key: `${part} ${value ?? ''}`,
    name: part === 'table' || part === 'writer' ? `${files} ${value ?? ''}` : NAMES[part],
    selected: say(unit, selected),
    baseline: say(unit, baseline),
    selectedWidth: width(selected),
    baselineWidth: width(baseline),
  };
}
