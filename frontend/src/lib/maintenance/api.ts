// Questions about recommended maintenance: of parts that are loaded on demand, hence not in the client.
import { pathOf, request, type Schemas } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';

export interface MaintenanceQuestion {
  readonly rule?: string;
  readonly action?: string;
  readonly q?: string;
  readonly owner?: string;
  readonly cursor?: string;
  readonly limit?: number;
}

export const listMaintenance = (
  query: MaintenanceQuestion,
  signal?: AbortSignal,
): Promise<Schemas['MaintenancePage']> =>
  request('get', '/api/v1/maintenance' as never, { query } as never, signal) as never;

export const getTableMaintenance = (
  ref: TableRef,
  signal?: AbortSignal,
): Promise<Schemas['TableMaintenance']> =>
  request(
    'get',
    '/api/v1/tables/{catalog}/{namespace}/{table}/maintenance' as never,
    { path: pathOf(ref) } as never,
    signal,
  ) as never;
