// Questions about recommended maintenance: of parts that are loaded on demand, hence not in the client.
import { pathOf, request } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';
import type { paths } from '#lib/api/schema.d.ts';

export type MaintenanceQuestion = NonNullable<paths['/api/v1/maintenance']['get']['parameters']['query']>;

export const listMaintenance = (query: MaintenanceQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/maintenance', { query }, signal);

export const getTableMaintenance = (ref: TableRef, signal?: AbortSignal) =>
  request('get', '/api/v1/tables/{catalog}/{namespace}/{table}/maintenance', { path: pathOf(ref) }, signal);
