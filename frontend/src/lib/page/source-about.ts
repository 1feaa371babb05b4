// What each kind of source is for. Pure.
import type { Schemas } from '#lib/api/client.ts';

type SourceStatus = Schemas['SourceStatus'];

const ABOUT: Record<SourceStatus['kind'], string> = {
  prometheus: 'Durations of jobs, and values of alert rules',
  meta: 'Limnograph’s own tables: the recorded history of every observed table',
  catalog: 'Lists the observed tables and where their metadata is',
  watcher: 'Looks for new commits between two passes of the pipeline',
  pipeline: 'Reads new commits and records them in the meta tables',
  inbox: 'Keeps what jobs and Alertmanager send until the pipeline has recorded it',
  trino: 'Reads rows older than those in memory',
  alertmanager: 'Whether an alert is still active, and who silenced it',
};
/** What a source is for, without a full stop. */
export const sourceAbout = ({ kind }: Pick<SourceStatus, 'kind'>): string => ABOUT[kind];
