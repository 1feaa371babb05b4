// The tables that were opened last, newest first, kept in this browser only.

export interface RecentTable {
  /** `/t/lake/sales/orders` */
  readonly path: string;
  readonly label: string;
}

const KEY = 'limnograph.recent';
const KEPT = 8;

export function recentTables(): RecentTable[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(read) ? read.filter(isRecent).slice(0, KEPT) : [];
  } catch {
    return [];
  }
}

const isRecent = (each: unknown): each is RecentTable =>
  typeof each === 'object' &&
  each !== null &&
  'path' in each &&
  'label' in each &&
  typeof each.label === 'string' &&
  typeof each.path === 'string' &&
  each.path.startsWith('/t/');

function keep(list: readonly RecentTable[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(list.slice(0, KEPT)));
  } catch {
    // storage is switched off: nothing is remembered
  }
}

export const rememberTable = (table: RecentTable): void =>
  keep([table, ...recentTables().filter(({ path }) => path !== table.path)]);

/** It is not there: offering it again would lead nowhere. */
export const forgetTable = (path: string): void => keep(recentTables().filter((each) => each.path !== path));
