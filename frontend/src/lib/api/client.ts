// The only place that talks to the server: one function a question, answers as the OpenAPI document types them.
// Every failure is an ApiProblem; an aborted request rejects with its AbortError. Who is not known leaves for the login.
import createClient, { type FetchResponse } from 'openapi-fetch';
import { loginDoor } from './login.ts';
import { toSegments, type TableRef } from './names.ts';
import { problemFrom, problemOf } from './problem.ts';
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

const api = createClient<paths>({ baseUrl: '/', fetch: fetchTwice });
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

async function answer<T extends Record<string | number, unknown>, O, M extends `${string}/${string}`>(
  asked: Promise<FetchResponse<T, O, M>>,
): Promise<NonNullable<FetchResponse<T, O, M>['data']>> {
  try {
    const { data, error, response } = await asked;
    if (response.status === UNKNOWN) leaveForLogin();
    if (data === undefined || data === null) throw problemOf(response.status, error);
    return data;
  } catch (thrown) {
    throw problemFrom(thrown);
  }
}

function pathOf(ref: TableRef): { catalog: string; namespace: string; table: string } {
  const { catalog, ns, table } = toSegments(ref);
  return { catalog, namespace: ns, table };
}

export const listTables = (query: FleetQuestion, signal?: AbortSignal) =>
  answer(api.GET('/api/v1/tables', { params: { query }, signal: signal ?? null }));

export const getHeat = (query: HeatQuestion, signal?: AbortSignal) =>
  answer(api.GET('/api/v1/tables/heat', { params: { query }, signal: signal ?? null }));

export const getTable = (ref: TableRef, signal?: AbortSignal) =>
  answer(
    api.GET('/api/v1/tables/{catalog}/{namespace}/{table}', {
      params: { path: pathOf(ref) },
      signal: signal ?? null,
    }),
  );

export const getTimeline = (ref: TableRef, query: TimelineQuestion, signal?: AbortSignal) =>
  answer(
    api.GET('/api/v1/tables/{catalog}/{namespace}/{table}/timeline', {
      params: { path: pathOf(ref), query },
      signal: signal ?? null,
    }),
  );

export const listCommits = (ref: TableRef, query: CommitsQuestion, signal?: AbortSignal) =>
  answer(
    api.GET('/api/v1/tables/{catalog}/{namespace}/{table}/commits', {
      params: { path: pathOf(ref), query },
      signal: signal ?? null,
    }),
  );

export const listAllCommits = (query: CommitsQuestion, signal?: AbortSignal) =>
  answer(api.GET('/api/v1/commits', { params: { query }, signal: signal ?? null }));

export const getCommit = (ref: TableRef, snapshotId: string, signal?: AbortSignal) =>
  answer(
    api.GET('/api/v1/tables/{catalog}/{namespace}/{table}/commits/{snapshot_id}', {
      params: { path: { ...pathOf(ref), snapshot_id: snapshotId } },
      signal: signal ?? null,
    }),
  );

export type PartitionsQuestion = NonNullable<
  paths['/api/v1/tables/{catalog}/{namespace}/{table}/partitions']['get']['parameters']['query']
>;

export const getPartitions = (ref: TableRef, query: PartitionsQuestion, signal?: AbortSignal) =>
  answer(
    api.GET('/api/v1/tables/{catalog}/{namespace}/{table}/partitions', {
      params: { path: pathOf(ref), query },
      signal: signal ?? null,
    }),
  );

export const getSchema = (ref: TableRef, signal?: AbortSignal) =>
  answer(
    api.GET('/api/v1/tables/{catalog}/{namespace}/{table}/schema', {
      params: { path: pathOf(ref) },
      signal: signal ?? null,
    }),
  );

export const getRefs = (ref: TableRef, signal?: AbortSignal) =>
  answer(
    api.GET('/api/v1/tables/{catalog}/{namespace}/{table}/refs', {
      params: { path: pathOf(ref) },
      signal: signal ?? null,
    }),
  );

export type AlertsQuestion = NonNullable<paths['/api/v1/alerts']['get']['parameters']['query']>;

export const listAlerts = (query: AlertsQuestion, signal?: AbortSignal) =>
  answer(api.GET('/api/v1/alerts', { params: { query }, signal: signal ?? null }));

/** `startsAt` epoch ms: which of its episodes; null: the newest. */
export const getAlert = (fingerprint: string, startsAt: number | null, signal?: AbortSignal) =>
  answer(
    api.GET('/api/v1/alerts/{fingerprint}', {
      params: { path: { fingerprint }, query: startsAt === null ? {} : { starts_at: startsAt } },
      signal: signal ?? null,
    }),
  );

/** Where a link with labels leads. The document names no parameter of it: every one is a label. */
export const resolveAlert = (link: URLSearchParams, signal?: AbortSignal) =>
  answer(
    api.GET('/api/v1/alerts/resolve', {
      params: { query: Object.fromEntries(link) as never },
      signal: signal ?? null,
    }),
  );

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

export type ExplainQuestion = NonNullable<
  paths['/api/v1/tables/{catalog}/{namespace}/{table}/explain']['get']['parameters']['query']
>;

export const getExplanation = (ref: TableRef, query: ExplainQuestion, signal?: AbortSignal) =>
  answer(
    api.GET('/api/v1/tables/{catalog}/{namespace}/{table}/explain', {
      params: { path: pathOf(ref), query },
      signal: signal ?? null,
    }),
  );

/** What a person says about a suspect; stored when it resolves. */
export const postLabel = (ref: TableRef, body: Schemas['LabelIn']) =>
  answer(
    api.POST('/api/v1/tables/{catalog}/{namespace}/{table}/labels', {
      params: { path: pathOf(ref) },
      body,
    }),
  );

export const getStatus = (signal?: AbortSignal) =>
  answer(api.GET('/api/v1/status', { signal: signal ?? null }));
