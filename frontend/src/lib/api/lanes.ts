// Names of the wire's lanes, by kind. The wire is `backend/limnograph/domain/answers/timeline.py`.
import type { Schemas } from './client.ts';

export type Answer = Schemas['Timeline'];
export type Lane = Answer['lanes'][number];
export type StepLane = Schemas['StepLane'];
type LineLane = Schemas['LineLane'];
type BandLane = Schemas['BandLane'];
export type SeriesLane = StepLane | LineLane | BandLane;
export type EventsLane = Schemas['EventsLane'];
export type BarsLane = Schemas['BarsLane'];
export type CommitEvent = Schemas['CommitEvent'];
export type Bar = Schemas['Bar'];
/** Where a bar begins: at its start, or, where only the end of a run was reported, there. */
export const beginOf = (bar: Pick<Bar, 'start' | 'end'>): number => bar.start ?? bar.end ?? 0;
/** A value of a column: null where it is not known. */
export type Value = number | null;

/** Lanes whose bars are runs: of a job, or of an action on the table. */
export const isRuns = (lane: string): boolean => lane === 'job_runs' || lane === 'maintenance';

export const isSeries = (lane: Lane): lane is SeriesLane =>
  lane.kind === 'step' || lane.kind === 'line' || lane.kind === 'band';

/** The column that read-outs and summaries use. */
export const mainColumn = (lane: SeriesLane): readonly Value[] => (lane.kind === 'band' ? lane.mid : lane.v);

/** The median run of a job's lane; undefined where none is known. */
export const medianOf = (lane: Lane): readonly Value[] | undefined =>
  lane.kind === 'band' ? (lane.median ?? undefined) : undefined;

/** State of a table holds between commits; samples of Prometheus do not. */
export const holds = (lane: SeriesLane): boolean =>
  lane.kind === 'step' || (lane.kind === 'band' && lane.source === 'meta');

export const commitsOf = (answer: Answer | undefined): readonly CommitEvent[] =>
  answer?.lanes.find((lane): lane is EventsLane => lane.kind === 'events')?.events ?? [];
