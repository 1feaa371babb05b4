// Questions about recommended maintenance: of parts that are loaded on demand, hence not in the client.
import { pathOf, request } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';
import type { paths } from '#lib/api/schema.d.ts';

export type MaintenanceQuestion = NonNullable<paths['/api/v1/maintenance']['get']['parameters']['query']>;

export const listMaintenance = (query: MaintenanceQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/maintenance', { query }, signal);

type FleetQuestion = NonNullable<paths['/api/v1/maintenance/comparison']['get']['parameters']['query']>;

export const compareMaintenance = (query: FleetQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/maintenance/comparison', { query }, signal);

/** `snapshotId` null: main's current one. The server reads storage for it, which may take a while. */
export const getStorage = (ref: TableRef, snapshotId: string | null, signal?: AbortSignal) =>
  request(
    'get',
    '/api/v1/tables/{catalog}/{namespace}/{table}/storage',
    { path: pathOf(ref), ...(snapshotId !== null && { query: { snapshot_id: snapshotId } }) },
    signal,
  );

export const getTableMaintenance = (ref: TableRef, signal?: AbortSignal) =>
  request('get', '/api/v1/tables/{catalog}/{namespace}/{table}/maintenance', { path: pathOf(ref) }, signal);
