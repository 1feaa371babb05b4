// Addresses between a table's pages: the timeline around an instant, and what of a query one page leaves to another.

const BEFORE_MS = 3 * 3_600_000;
const AFTER_MS = 3 * 3_600_000;
const EVENT_BEFORE_MS = 3_600_000;
const EVENT_AFTER_MS = 2 * 3_600_000;
const MINUTE_MS = 60_000;
/** Parameters that mean something on one page only. */
const OWN = ['cursor', 'partition', 'sort', 'dir'];

/** What another page of the same table keeps of a query: range, instant, zone and whatever it does not know. */
export function keepParams(query: URLSearchParams): string {
  const kept = new URLSearchParams(query);
  for (const name of OWN) kept.delete(name);
  return kept.size ? `?${kept}` : '';
}

/** From an hour before an event to two after it, or to now; the cursor at it, the commit of that time open. */
export function eventQuery(at: number, snapshotId: string | null, now: number): URLSearchParams {
  const query = new URLSearchParams({
    from: String(at - EVENT_BEFORE_MS),
    to: String(Math.max(at + MINUTE_MS, Math.min(at + EVENT_AFTER_MS, now))),
    at: String(at),
  });
  if (snapshotId) query.set('c', snapshotId);
  return query;
}

/** The timeline of a table around an instant, with the cursor at it. */
export function momentHref(tablePath: string, t: number, query: URLSearchParams): string {
  const kept = new URLSearchParams(query);
  for (const name of [...OWN, 'sel', 'c', 'a', 'cmp', 'time', 'time.window']) kept.delete(name);
  kept.set('from', String(t - BEFORE_MS));
  kept.set('to', String(t + AFTER_MS));
  kept.set('at', String(t));
  return `${tablePath}?${kept}`;
}
