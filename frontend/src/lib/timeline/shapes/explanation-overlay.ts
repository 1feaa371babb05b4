// What an explanation adds to the lane of the job that it is about: where its level changed, and between which durations it
// was expected. Pure.
import { ratio } from '#lib/format/count.ts';
import { seconds } from '#lib/format/duration.ts';
import { clockSeconds } from '#lib/format/instant.ts';
import type { Answer, Value } from '#lib/api/lanes.ts';

export interface LevelFlag {
  readonly at: number;
  /** `3.0×`: how many times as long as before; `back to 52 s`: as long as it was, or less. */
  readonly text: string;
  /** What is written beside it: the text, and for a slowdown since when. */
  readonly note: string;
  /** It takes longer, or less. */
  readonly worse: boolean;
  /** In a sentence. */
  readonly said: string;
}

export interface ExplanationOverlay {
  /** The job that is explained. */
  readonly job: string;
  readonly flags: readonly LevelFlag[];
  /** Seconds: the middle of the runs that are compared with, and how far most of them lie from it; null: not known. */
  readonly expected: readonly [least: number, most: number] | null;
}

interface Change {
  readonly onset: number;
  readonly effect_ratio: number;
  readonly after_seconds: number;
}

/** From so many runs on, their spread says what is usual. */
const LEAST_RUNS = 8;
/** Median absolute deviations on either side. */
const WIDTH = 3;
/** Where all runs took alike, a band has some width still. */
const LEAST_SHARE = 0.02;

/** Of an explanation, in a drawn answer. Null where that does not draw the explained job. */
export function overlayOf(
  job: string | null,
  changes: readonly Change[],
  answer: Answer,
): ExplanationOverlay | null {
  const lane = answer.lanes.find(({ id }) => id === 'job_duration');
  if (job === null || lane?.kind !== 'band' || lane.label !== job) return null;
  const onset = Math.min(Infinity, ...changes.map(({ onset }) => onset));
  const before = lane.mid.filter((_, i) => (answer.t[i] as number) < onset);
  return { job, flags: changes.map(flagOf), expected: expectedOf(runsOf(before)) };
}

/** A sample repeats until the next run ends. */
const runsOf = (samples: readonly Value[]): number[] =>
  samples.filter((value, i): value is number => value !== null && value !== samples[i - 1]);

function flagOf({ onset, effect_ratio: times, after_seconds: after }: Change): LevelFlag {
  const worse = times >= 1;
  const text = worse ? ratio(times) : `back to ${seconds(after)}`;
  const note = worse ? `${text} at ${clockSeconds(onset)}` : text;
  return {
    at: onset,
    text,
    note,
    worse,
    said: `${worse ? `${text} as long` : text} from ${clockSeconds(onset)}`,
  };
}

/** Median ± 3 median absolute deviations of runs. */
function expectedOf(runs: readonly number[]): ExplanationOverlay['expected'] {
  if (runs.length < LEAST_RUNS) return null;
  const middle = median(runs);
  const spread = Math.max(LEAST_SHARE * middle, median(runs.map((each) => Math.abs(each - middle))));
  return [Math.max(0, middle - WIDTH * spread), middle + WIDTH * spread];
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2
    ? (sorted[half] as number)
    : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2;
}
