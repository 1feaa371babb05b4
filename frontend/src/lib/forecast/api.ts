// Questions about forecasts: of parts that are loaded on demand, hence not in the client.
import { pathOf, request } from '#lib/api/client.ts';
import type { TableRef } from '#lib/api/names.ts';
import type { paths } from '#lib/api/schema.d.ts';

export type ForecastsQuestion = NonNullable<paths['/api/v1/forecasts']['get']['parameters']['query']>;

export const listForecasts = (query: ForecastsQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/forecasts', { query }, signal);

export const getTableForecast = (ref: TableRef, signal?: AbortSignal) =>
  request('get', '/api/v1/tables/{catalog}/{namespace}/{table}/forecast', { path: pathOf(ref) }, signal);
