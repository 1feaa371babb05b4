// The only place that talks to the server: one function a question, answers as the OpenAPI document types them.
// Every failure is an ApiProblem; an aborted request rejects with its AbortError. Who is not known leaves for the login.
import { loginDoor } from './login.ts';
import { toSegments, type TableRef } from './names.ts';
import { problemFrom, problemOf } from './problem.ts';
import { send, type PathWith, type RequestInput, type SuccessBody } from './request.ts';
import { fetchTwice } from './retry.ts';
import type { components, paths } from './schema.d.ts';

export type Schemas = components['schemas'];
export type FleetSort = NonNullable<
  NonNullable<paths['/api/v1/tables']['get']['parameters']['query']>['sort']
>;
export type FleetQuestion = NonNullable<paths['/api/v1/tables']['get']['parameters']['query']>;
export type HeatQuestion = NonNullable<paths['/api/v1/tables/heat']['get']['parameters']['query']>;
export type CommitsQuestion = NonNullable<paths['/api/v1/commits']['get']['parameters']['query']>;
export type TimelineQuestion = NonNullable<
  paths['/api/v1/tables/{catalog}/{namespace}/{table}/timeline']['get']['parameters']['query']
>;

const UNKNOWN = 401;
const leaveForLogin = loginDoor({
  get location() {
    return location;
  },
  get storage() {
    return sessionStorage;
  },
  now: Date.now,
});

/** Sends a question; for the questions of parts that are loaded on demand, which are not here. */
export async function request<M extends 'get' | 'post', P extends PathWith<M>>(
  method: M,
  path: P,
  input: RequestInput<M, P>,
  signal?: AbortSignal,
): Promise<SuccessBody<M, P>> {
  try {
    const { response, body } = await send(method, path, input as object, signal ?? null);
    if (response.status === UNKNOWN) leaveForLogin();
    if (!response.ok || body === undefined || body === null) throw problemOf(response.status, body);
    return body as SuccessBody<M, P>;
  } catch (thrown) {
    throw problemFrom(thrown);
  }
}

export function pathOf(ref: TableRef): { catalog: string; namespace: string; table: string } {
  const { catalog, ns, table } = toSegments(ref);
  return { catalog, namespace: ns, table };
}

export const listTables = (query: FleetQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/tables', { query }, signal);

export const getHeat = (query: HeatQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/tables/heat', { query }, signal);

export const getTable = (ref: TableRef, signal?: AbortSignal) =>
  request('get', '/api/v1/tables/{catalog}/{namespace}/{table}', { path: pathOf(ref) }, signal);

export const getTimeline = (ref: TableRef, query: TimelineQuestion, signal?: AbortSignal) =>
  request(
    'get',
    '/api/v1/tables/{catalog}/{namespace}/{table}/timeline',
    { path: pathOf(ref), query },
    signal,
  );

export const listCommits = (ref: TableRef, query: CommitsQuestion, signal?: AbortSignal) =>
  request(
    'get',
    '/api/v1/tables/{catalog}/{namespace}/{table}/commits',
    { path: pathOf(ref), query },
    signal,
  );

export const listAllCommits = (query: CommitsQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/commits', { query }, signal);

export const getCommit = (ref: TableRef, snapshotId: string, signal?: AbortSignal) =>
  request(
    'get',
    '/api/v1/tables/{catalog}/{namespace}/{table}/commits/{snapshot_id}',
    { path: { ...pathOf(ref), snapshot_id: snapshotId } },
    signal,
  );

export type EffectsQuestion = NonNullable<paths['/api/v1/effects']['get']['parameters']['query']>;

export const listEffects = (query: EffectsQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/effects', { query }, signal);

export type FindingsQuestion = NonNullable<paths['/api/v1/findings']['get']['parameters']['query']>;

export const listFindings = (query: FindingsQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/findings', { query }, signal);

export const getFinding = (findingId: string, signal?: AbortSignal) =>
  request('get', '/api/v1/findings/{finding_id}', { path: { finding_id: findingId } }, signal);

export type NotesQuestion = NonNullable<paths['/api/v1/notes']['get']['parameters']['query']>;

export const listNotes = (query: NotesQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/notes', { query }, signal);

/** What is left out has its default. */
export type NoteBody = Pick<Schemas['NoteIn'], 'key'> & Partial<Schemas['NoteIn']>;

/** A new note, an edit or a deletion; stored when it resolves. */
export const postNote = (body: NoteBody) =>
  request('post', '/api/v1/notes', { body: body as Schemas['NoteIn'] });

export type PartitionsQuestion = NonNullable<
  paths['/api/v1/tables/{catalog}/{namespace}/{table}/partitions']['get']['parameters']['query']
>;

export const getPartitions = (ref: TableRef, query: PartitionsQuestion, signal?: AbortSignal) =>
  request(
    'get',
    '/api/v1/tables/{catalog}/{namespace}/{table}/partitions',
    { path: pathOf(ref), query },
    signal,
  );

export const getSchema = (ref: TableRef, signal?: AbortSignal) =>
  request('get', '/api/v1/tables/{catalog}/{namespace}/{table}/schema', { path: pathOf(ref) }, signal);

export const getLineage = (ref: TableRef, signal?: AbortSignal) =>
  request('get', '/api/v1/tables/{catalog}/{namespace}/{table}/lineage', { path: pathOf(ref) }, signal);

export const getRefs = (ref: TableRef, signal?: AbortSignal) =>
  request('get', '/api/v1/tables/{catalog}/{namespace}/{table}/refs', { path: pathOf(ref) }, signal);

export type AlertsQuestion = NonNullable<paths['/api/v1/alerts']['get']['parameters']['query']>;

export const listAlerts = (query: AlertsQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/alerts', { query }, signal);

/** `startsAt` epoch ms: which of its episodes; null: the newest. */
export const getAlert = (fingerprint: string, startsAt: number | null, signal?: AbortSignal) =>
  request(
    'get',
    '/api/v1/alerts/{fingerprint}',
    { path: { fingerprint }, query: startsAt === null ? {} : { starts_at: startsAt } },
    signal,
  );

/** Where a link with labels leads. The document names no parameter of it: every one is a label. */
export const resolveAlert = (link: URLSearchParams, signal?: AbortSignal) =>
  request('get', '/api/v1/alerts/resolve', { query: Object.fromEntries(link) as never }, signal);

/** Text of a runbook that the server carries; empty where it has none of this name. */
export async function getRunbook(name: string, signal?: AbortSignal): Promise<string> {
  try {
    const path = new URL(`/docs/runbooks/${encodeURIComponent(name)}`, location.href);
    const response = await fetchTwice(new Request(path, { signal: signal ?? null }));
    if (response.status >= 500) throw problemOf(response.status, undefined);
    return response.ok ? await response.text() : '';
  } catch (thrown) {
    throw problemFrom(thrown);
  }
}

/** Statements of a runbook for a table; for the rows that a commit wrote, if one is named. */
export const getTableRunbook = (
  ref: TableRef,
  name: string,
  snapshotId: string | null,
  signal?: AbortSignal,
) =>
  request(
    'get',
    '/api/v1/tables/{catalog}/{namespace}/{table}/runbooks/{name}',
    { path: { ...pathOf(ref), name }, query: snapshotId === null ? {} : { snapshot_id: snapshotId } },
    signal,
  );

export type ExplainQuestion = NonNullable<
  paths['/api/v1/tables/{catalog}/{namespace}/{table}/explain']['get']['parameters']['query']
>;

export const getExplanation = (ref: TableRef, query: ExplainQuestion, signal?: AbortSignal) =>
  request(
    'get',
    '/api/v1/tables/{catalog}/{namespace}/{table}/explain',
    { path: pathOf(ref), query },
    signal,
  );

/** What a person says about a suspect; stored when it resolves. */
export const postLabel = (ref: TableRef, body: Schemas['LabelIn']) =>
  request('post', '/api/v1/tables/{catalog}/{namespace}/{table}/labels', { path: pathOf(ref), body });

export const getStatus = (signal?: AbortSignal) => request('get', '/api/v1/status', {}, signal);
