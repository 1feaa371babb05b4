// Asks the server for the reads of a table. Here, because only their page asks.
import { pathOf, request } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';
import type { paths } from '#lib/api/schema.d.ts';

type ReadsQuestion = NonNullable<
  paths['/api/v1/tables/{catalog}/{namespace}/{table}/reads']['get']['parameters']['query']
>;

export const getReads = (ref: TableRef, query: ReadsQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/tables/{catalog}/{namespace}/{table}/reads', { path: pathOf(ref), query }, signal);
