// What lanes are compared with, in words: `1 d earlier`, or the name of a table. Pure.
import { duration } from '#lib/format/duration.ts';
import type { Answer } from '#lib/api/lanes.ts';

export const sayComparison = (cmp: NonNullable<Answer['cmp']>): string =>
  cmp.table ?? `${duration(cmp.seconds)} earlier`;
