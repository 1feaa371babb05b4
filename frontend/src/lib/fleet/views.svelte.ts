// Named addresses of the fleet page, kept in this browser: a view is its search parameters.

export interface SavedView {
  readonly name: string;
  /** `?ns=lake.sales&sort=bytes`, or empty. */
  readonly query: string;
}

const KEY = 'limnograph.views';
const MOST = 30;

/** Of stored text; what cannot be read is left out. */
export function readViews(text: string | null): SavedView[] {
  try {
    const read: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(read) ? read.filter(isView).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

const isView = (each: unknown): each is SavedView =>
  typeof each === 'object' &&
  each !== null &&
  'name' in each &&
  'query' in each &&
  typeof each.name === 'string' &&
  typeof each.query === 'string' &&
  (each.query === '' || each.query.startsWith('?'));

function stored(): SavedView[] {
  try {
    return readViews(localStorage.getItem(KEY));
  } catch {
    return []; // storage is switched off
  }
}

let views = $state.raw<readonly SavedView[]>(stored());

function keep(next: readonly SavedView[]): void {
  views = next.slice(0, MOST);
  try {
    localStorage.setItem(KEY, JSON.stringify(views));
  } catch {
    // storage is switched off: they are kept until the page is left
  }
}

export const savedViews = {
  get list(): readonly SavedView[] {
    return views;
  },
  /** Under a name that is taken, the new one replaces the old. */
  save(name: string, query: string): void {
    keep([{ name, query }, ...views.filter((view) => view.name !== name)]);
  },
  remove(name: string): void {
    keep(views.filter((view) => view.name !== name));
  },
};

/** What a view keeps of an address: not the place in the list. */
export function queryOf(params: URLSearchParams): string {
  const kept = new URLSearchParams(params);
  for (const name of ['cursor', 'skip']) kept.delete(name);
  return kept.size ? `?${kept}` : '';
}
