// Addresses of pages of a list. Pure.

export const addressOf = (path: string, params: URLSearchParams): string =>
  params.size ? `${path}?${params}` : path;

/** The page that begins at a cursor; null: the first one. Other parameters stay. */
export function cursorAddress(path: string, params: URLSearchParams, cursor: string | null): string {
  const next = new URLSearchParams(params);
  if (cursor === null) next.delete('cursor');
  else next.set('cursor', cursor);
  return addressOf(path, next);
}
