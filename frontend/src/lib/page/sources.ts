// How a source of the status is called and how bad its state is. Pure.
import { duration } from '#lib/format/duration.ts';
import type { Schemas } from '#lib/api/client.ts';

type SourceStatus = Schemas['SourceStatus'];

const NAMES: Record<SourceStatus['kind'], string> = {
  prometheus: 'Prometheus',
  meta: 'Meta',
  catalog: 'Catalog',
  watcher: 'Watcher',
  pipeline: 'Pipeline',
  inbox: 'Inbox',
  trino: 'Trino',
  alertmanager: 'Alertmanager',
};
const WORDS: Record<SourceStatus['status'], string> = {
  ok: 'ok',
  stale: 'behind',
  error: 'failed',
  absent: 'not set up',
};

/** `Prometheus`, or `Catalog lake` where there can be several. */
export function sourceName(source: SourceStatus): string {
  const name = NAMES[source.kind];
  const id = source.id.replace(/^(catalog|prometheus)[:.]/, '');
  const several = source.kind === 'catalog' || source.kind === 'prometheus';
  return several && id !== source.kind && id !== 'main' ? `${name} ${id}` : name;
}

export const sourceWord = (source: SourceStatus): string => WORDS[source.status];

/** `12 s ago`; null when the source has no such instant (an inbox that is only written to). */
export const lastSuccess = (source: SourceStatus): string | null =>
  source.age_s === null ? null : `${sourceAge(source.age_s)} ago`;

/** Whole seconds: an age under one changes faster than it can be read. */
export const sourceAge = (seconds: number): string => duration(Math.round(seconds));

export type Tone = 'ok' | 'warn' | 'crit' | 'unknown';

export function sourceTone(source: SourceStatus): Tone {
  const tones = { ok: 'ok', stale: 'warn', error: 'crit', absent: 'unknown' } as const;
  return tones[source.status];
}
