// What alerts are called: severity and state as icon, word and tone; their table's name and their page. Pure.
import { isCritical } from '#lib/api/severity.ts';
import type { Schemas } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';
import { isOpen, severityLook, type Finding } from '#lib/findings/words.ts';
import { duration } from '#lib/format/duration.ts';
import type { IconName } from '#lib/ui/icons.ts';

export type Alert = Schemas['AlertView'];
export type AlertRow = Schemas['AlertRow'];
type AlertTable = Schemas['AlertTable'];
/** `pending`: true, but not for long enough yet; `unknown`: no source that responds knows it any more. */
export type State = Schemas['AlertTarget']['state'];

export interface Look {
  readonly icon: IconName;
  readonly word: string;
  readonly tone: 'crit' | 'warn' | 'ok' | 'unknown';
}

/** Words of severity that are in use; all others are a warning under their own name. */
const MILD = new Set(['info', 'information', 'notice', 'none', 'low', 'debug']);

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** What the rule calls it; rules need not name one. */
export const severityWord = (severity: string | null): string =>
  severity ? capital(severity.toLowerCase()) : 'None';

/** How an alert stands out: an alert that is over is calm, whatever it was. */
export function lookOf(severity: string | null, state: State): Look {
  const said = (severity ?? '').toLowerCase();
  const word = said ? capital(said) : 'Alert';
  if (state === 'resolved') return { icon: 'ok', word, tone: 'ok' };
  if (state === 'unknown') return { icon: 'unknown', word, tone: 'unknown' };
  if (isCritical(severity)) return { icon: 'crit', word, tone: 'crit' };
  return { icon: MILD.has(said) ? 'info' : 'warn', word, tone: 'warn' };
}

const TONES = { 'c-crit': 'crit', 'c-warn': 'warn', 'c-ok': 'ok', 'c-unknown': 'unknown' } as const;

/** How an episode stands out beside what it is about: an alert that is over while its cause is still there is not calm. */
export function episodeLook(severity: string | null, state: State, finding: Finding | null): Look {
  if (state !== 'resolved' || !finding || !isOpen(finding)) return lookOf(severity, state);
  const { icon, word, tone } = severityLook(finding.severity);
  return { icon, word, tone: TONES[tone] };
}

/** `the cause is still there`; null: the alert itself says enough. */
export function causeState(state: State, finding: Finding | null): string | null {
  if (!finding) return null;
  if (state === 'resolved' && isOpen(finding)) return 'the cause is still there';
  return state === 'firing' && !isOpen(finding) ? 'the cause is gone' : null;
}

/** `firing for 2 h 44 m`, `resolved, fired for 50 m`. A second counts in the first minutes only. */
export function stateText(
  alert: Pick<Alert, 'starts_at' | 'ends_at' | 'heard_at'>,
  state: State,
  now: number,
): string {
  const long = (to: number, from = alert.starts_at) => {
    const seconds = Math.max(0, to - from) / 1000;
    return duration(seconds < 600 ? Math.round(seconds) : Math.round(seconds / 60) * 60);
  };
  if (state === 'resolved')
    return alert.ends_at === null ? 'resolved' : `resolved, fired for ${long(alert.ends_at)}`;
  if (state === 'unknown')
    return alert.heard_at === null
      ? 'state unknown'
      : `end unknown, last update ${long(now, alert.heard_at)} ago`;
  return `${state} for ${long(now)}`;
}

export const nameOf = (alert: Pick<Alert, 'alert_name' | 'fingerprint'>): string =>
  alert.alert_name ?? `Alert ${alert.fingerprint}`;

/** All three levels, or null: then there is no page of it. */
export function refOf(table: AlertTable | null): TableRef | null {
  if (!table?.catalog || !table.table_namespace || !table.table) return null;
  return { catalog: table.catalog, namespace: table.table_namespace, table: table.table };
}

/** `lake / sales / orders`; as much of it as is known. */
export const tableText = (table: AlertTable | null): string =>
  [table?.catalog, table?.table_namespace, table?.table].filter(Boolean).join(' / ');

/** `sales.orders`, for lists. */
export const shortTable = (table: AlertTable | null): string =>
  [table?.table_namespace, table?.table].filter(Boolean).join('.');

/** Whether the alert fired at an instant, as far as known. Senders round its start to seconds. */
export function firesAt(alert: Pick<Alert, 'starts_at' | 'ends_at' | 'heard_at'>, at: number): boolean {
  const end = alert.ends_at ?? alert.heard_at ?? Infinity;
  return at >= alert.starts_at - 1_000 && at <= end + 1_000;
}

/** The page of one episode. */
export const alertPath = (fingerprint: string, startsAt: number): string =>
  `/alerts/${encodeURIComponent(fingerprint)}?starts_at=${startsAt}`;
