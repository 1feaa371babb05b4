// Questions about the whole fleet that a page asks on demand only: see `client.ts`.
import { request } from './client.ts';
import type { paths } from './schema.d.ts';

export type FindQuestion = NonNullable<paths['/api/v1/find']['get']['parameters']['query']>;

export const find = (query: FindQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/find', { query }, signal);

export type FacetsQuestion = NonNullable<paths['/api/v1/tables/facets']['get']['parameters']['query']>;

export const getTableFacets = (query: FacetsQuestion, signal?: AbortSignal) =>
  request('get', '/api/v1/tables/facets', { query }, signal);
