// The lanes that can be shown, in the server's order of display, and the ones it shows unasked.
export const ALL_LANES = [
  'alerts',
  'job_duration',
  'job_runs',
  'commits',
  'schema',
  'data_files',
  'file_size',
  'delete_files',
  'freshness',
  'bytes',
  'records',
  'manifests',
  'skew',
  'debt',
] as const;
const DEFAULT_LANES: readonly string[] = ALL_LANES.slice(0, 9);

export const shownLanes = (asked: readonly string[] | null): readonly string[] => asked ?? DEFAULT_LANES;

/** The choice with one lane more or less; null when it is the default again. At least one lane stays. */
export function toggleLane(asked: readonly string[] | null, lane: string): readonly string[] | null {
  const now = shownLanes(asked);
  const next = ALL_LANES.filter((each) => (each === lane ? !now.includes(each) : now.includes(each)));
  if (next.length === 0) return asked;
  return next.join() === DEFAULT_LANES.join() ? null : next;
}
