// When what a page shows is old, and why. Pure.
import type { Schemas } from '#lib/api/client.ts';
import { lastSuccess, sourceName } from './sources.ts';

/** An age of metadata from which on a page says so: three times what the pipeline takes from one pass to the next. */
export const LATE_MS = 180_000;

/** What is not known, source by source. Of alerts: who could not keep them, who does not say whether they still fire; of
 * tables: who does not say how long their jobs take. */
export function silentAbout(
  of: 'alerts' | 'tables',
  sources: readonly Schemas['SourceStatus'][],
): { id: string; sentence: string }[] {
  return sources.flatMap((source) => {
    const { id, kind, status, detail } = source;
    if (status === 'ok' || status === 'absent') return [];
    const why = detail ? ` (${detail})` : '';
    if (of === 'tables') {
      const sentence = `${sourceName(source)} is not responding${why}. Slower jobs may be missing.`;
      return kind === 'prometheus' && status === 'error' ? [{ id, sentence }] : [];
    }
    if (kind === 'inbox')
      return [{ id, sentence: `Alerts from Alertmanager cannot be stored${why}; some may be missing.` }];
    if (kind !== 'alertmanager') return [];
    const last = lastSuccess(source);
    const since = last ? `; last response ${last}` : '';
    return [{ id, sentence: `Alertmanager is not responding${why}${since}. Firing alerts may be over.` }];
  });
}
