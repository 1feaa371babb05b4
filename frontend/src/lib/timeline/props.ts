// Inputs and events of the timeline: the page responds, the timeline draws.
import type { Snippet } from 'svelte';
import type { Cursor } from '#lib/state/Cursor.svelte.ts';
import type { Span } from '#lib/time/step.ts';
import type { Answer, Bar, Lane } from '#lib/api/lanes.ts';
import type { Overview } from '#lib/timeline/overview/minimap.ts';
import type { EffectNote } from '#lib/ui/verdict.ts';
import type { ExplanationOverlay } from '#lib/timeline/shapes/explanation-overlay.ts';

/** An interval during which a finding was open, epoch ms; null: it still is. */
export interface Episode {
  readonly finding_id: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly opened_at: number;
  readonly closed_at: number | null;
}

/** A note of the team, epoch ms; `to` null: it has a place, no length. */
export interface NoteMark {
  readonly id: string;
  readonly from: number;
  readonly to: number | null;
  readonly label: string;
}

/** A forecast of a lane's level; points from where observation ends. */
export interface LaneFan {
  /** Null: no lane has its unit. */
  readonly lane: string | null;
  /** Of a lane of a job. */
  readonly job_name: string | null;
  readonly threshold: number;
  readonly points: readonly {
    readonly at: number;
    readonly p10: number;
    readonly p50: number;
    readonly p90: number;
  }[];
  /** Epoch ms at which the level dropped. */
  readonly last_drops: readonly number[];
}

export interface Props {
  answer: Answer;
  /** What is shown; an answer of another range is drawn where it belongs until its own arrives. */
  span: Span;
  /** The present, epoch ms: nothing is shown beyond. */
  now: number;
  cursor: Cursor;
  /** Snapshot id of the open commit, and of the one that the table's reason names. */
  selected?: string | null;
  noted?: string | null;
  /** Lanes on a logarithmic axis; null: as each lane is by itself. */
  log?: readonly string[] | null;
  dimmed?: boolean;
  /** Commits and alerts of all that is known; null: on its way, its place is kept; undefined: no overview is drawn. */
  overview?: Overview | null | undefined;
  /** What an explanation compares with, epoch ms: shaded. */
  baseline?: readonly [from: number, to: number] | null;
  /** The incident of a bar in the lane of alerts; without it they are drawn only. */
  alertHref?: ((bar: Bar) => string) | undefined;
  /** The bar of the alert that the page is about. */
  alert?: Pick<Bar, 'label' | 'start'> | null;
  /** What an explanation says of the job that is drawn. */
  explanation?: ExplanationOverlay | null;
  /** What maintenance did to jobs, as far as there is a verdict. */
  effects?: readonly EffectNote[] | undefined;
  /** When something was wrong with the table, the most severe first. */
  findings?: readonly Episode[];
  /** What the team wrote. */
  notes?: readonly NoteMark[];
  /** What is forecast of the levels; drawn where the range reaches beyond the present. */
  fans?: readonly LaneFan[];
  /** Widths (ms) of the ranges that were zoomed into, widest first. */
  trail?: readonly number[];
  /** What else can be done with a lane, in its head; it is given what shows the lane as a table. */
  menu?: Snippet<[lane: Lane, tabulate: () => void]>;
  /** One of the trail is wanted again. */
  ontrail?: (place: number) => void;
  /** Another range is wanted, epoch ms. `gliding`: one of many in a row. */
  onrange: (from: number, to: number, gliding: boolean) => void;
  /** The range before is wanted. */
  onback: () => void;
  oncommit: (snapshotId: string) => void;
  /** The period before is wanted, or no longer; `seconds`: the one so long before. */
  oncompare: (seconds?: number) => void;
  /** Why the job changed in the selection, else in what is shown; undefined where nothing explains. */
  onexplain?: () => void;
  /** The view should follow what happens, or no longer; undefined where nothing is followed. */
  onpause?: () => void;
  onretry: () => void;
}
