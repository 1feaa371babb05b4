// What the verdict on an effect looks like: the shape carries the meaning, the colour repeats it.

export type Verdict =
  'helped' | 'worse' | 'none' | 'unknown' | 'confounded' | 'not_separable' | 'no_data_yet';

/** A verdict that is marked on a timeline, with its sentence. */
export interface EffectNote {
  /** Of the commit, or of an operation without one. */
  readonly id: string;
  /** Epoch ms. */
  readonly at: number;
  /** Whether it is a commit's. */
  readonly commit: boolean;
  readonly verdict: 'helped' | 'worse' | 'none';
  readonly sentence: string;
}

interface Shape {
  /** In a 16 px box. */
  readonly path: string;
  /** Drawn as lines; else as an area. */
  readonly stroked: boolean;
}

export const VERDICT_SHAPES: Record<Verdict, Shape> = {
  helped: { path: 'M8 13L2.5 4.5h11Z', stroked: false },
  worse: { path: 'M8 3l5.5 8.5h-11Z', stroked: false },
  none: { path: 'M2.5 6.5h11v3h-11Z', stroked: false },
  unknown: { path: 'M13 8A5 5 0 1 1 3 8A5 5 0 1 1 13 8Z', stroked: true },
  confounded: { path: 'M3.5 3.5l9 9M12.5 3.5l-9 9', stroked: true },
  not_separable: { path: 'M3 6q2.5-3 5 0t5 0M3 11q2.5-3 5 0t5 0', stroked: true },
  no_data_yet: { path: 'M3 8h.01M8 8h.01M13 8h.01', stroked: true },
};
