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
      const sentence = `${sourceName(source)} gives no answer${why}: a job that became slower is not told here.`;
      return kind === 'prometheus' && status === 'error' ? [{ id, sentence }] : [];
    }
    if (kind === 'inbox')
      return [{ id, sentence: `What Alertmanager tells cannot be kept${why}: alerts may be missing here.` }];
    if (kind !== 'alertmanager') return [];
    const last = lastSuccess(source);
    const since = last ? `; its last answer came ${last}` : '';
    return [{ id, sentence: `Alertmanager gives no answer${why}${since}: an alert that fires may be over.` }];
  });
}
