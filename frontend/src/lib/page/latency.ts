// How long a source takes to respond. Apart from the sources: only the status page shows it. Pure.
import { duration } from '#lib/format/duration.ts';
import type { Schemas } from '#lib/api/client.ts';

/** `12 ms`, `1.4 s`; null where it is not measured. */
export function latency(source: Schemas['SourceStatus']): string | null {
  const seconds = source.latency_s;
  if (seconds === null) return null;
  if (seconds >= 1) return duration(seconds);
  return seconds < 0.001 ? '<1 ms' : `${Math.round(seconds * 1000)} ms`;
}
