// Asks the server for the columns of a table. Here, because only their page asks.
import { pathOf, request } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';
import type { paths } from '#lib/api/schema.d.ts';

type ColumnsQuestion = NonNullable<
  paths['/api/v1/tables/{catalog}/{namespace}/{table}/columns']['get']['parameters']['query']
>;

export const getColumns = (ref: TableRef, query: ColumnsQuestion, signal?: AbortSignal) =>
  request(
    'get',
    '/api/v1/tables/{catalog}/{namespace}/{table}/columns',
    { path: pathOf(ref), query },
    signal,
  );
