// Alerts that fire, by the table they are about: the fleet shows which of its tables somebody is paged for. Pure.
import { tablePath, type TableRef } from '#lib/api/names.ts';
import { lookOf, refOf, type AlertRow } from '#lib/alerts/words.ts';

/** By the path of the table: its alert that fires, of several the first of the list. Alerts without a table stay out. */
export type Firing = ReadonlyMap<string, AlertRow>;

export function firingByTable(alerts: readonly AlertRow[]): Firing {
  const found = new Map<string, AlertRow>();
  for (const alert of alerts) {
    const ref = alert.state === 'firing' ? refOf(alert.table) : null;
    if (ref && !found.has(tablePath(ref))) found.set(tablePath(ref), alert);
  }
  return found;
}

/** Those whose table the list of tables does not flag: nothing but the alert tells of them. */
export const withoutFlagged = (
  firing: Firing,
  flagged: readonly TableRef[],
): [path: string, alert: AlertRow][] => {
  const paths = new Set(flagged.map(tablePath));
  return [...firing].filter(([path]) => !paths.has(path));
};

/** `2 SmallFileProliferation, 1 LakehouseTableStale, 3 of others`: critical rules first, then those that fire most; a
 * count stays with its name, and nothing is hidden behind "others" that would fit. */
export function rulesOf(alerts: readonly AlertRow[], most = 3): string {
  const names = Map.groupBy(
    alerts.filter(({ state }) => state === 'firing'),
    ({ alert_name: name, fingerprint }) => name ?? fingerprint,
  );
  const critical = (each: readonly AlertRow[]) =>
    Number(each.some(({ severity, state }) => lookOf(severity, state).tone === 'crit'));
  const sorted = [...names].sort(([, a], [, b]) => critical(b) - critical(a) || b.length - a.length);
  const named = sorted.slice(0, most).map(([name, each]) => `${each.length}\u00A0${name}`);
  const others = sorted.slice(most).reduce((sum, [, each]) => sum + each.length, 0);
  return [...named, ...(others ? [`${others}\u00A0other`] : [])].join(', ');
}
