// Answers of the real server, one file a question. A question is its path and sorted parameters.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../browser.ts';

export interface Recorded {
  readonly asked: string;
  readonly status: number;
  readonly body: unknown;
}

export const FOLDER = join(root, 'e2e/ui/recorded');

export function questionOf(url: URL): string {
  const query = [...url.searchParams]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  return query ? `${url.pathname}?${query}` : url.pathname;
}

export function readAll(): Map<string, Recorded> {
  mkdirSync(FOLDER, { recursive: true });
  const all = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  return new Map(
    all.map((name) => {
      const recorded = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Recorded;
      return [recorded.asked, recorded];
    }),
  );
}

/** A path of the API without what names a table, a commit, an alert or a finding. */
const kindOf = (path: string): string =>
  path
    .replace(/^(\/api\/v1\/tables)\/(?!heat)[^/]+\/[^/]+\/[^/]+/, '$1/*')
    .replace(/\/(commits|alerts|findings)\/(?!resolve)[^/]+$/, '/$1/*');

/** What was answered to a question of the same path, else of a page of the same kind, with most parameters alike. */
export function nearestTo(url: URL, recordings: ReadonlyMap<string, Recorded>): Recorded | undefined {
  const path = decodeURIComponent(url.pathname);
  const alike = ({ asked }: Recorded) => {
    const [its = '', query = ''] = asked.split('?');
    const theirs = new URLSearchParams(query);
    const names = [...new Set([...theirs.keys(), ...url.searchParams.keys()])];
    const equal = (name: string) => theirs.get(name) === url.searchParams.get(name);
    // with the details of its table an answer serves the first question and all that follow; other pages ask for lanes
    const serves = theirs.has('lanes') ? url.searchParams.has('lanes') : theirs.has('detail');
    const apart = serves || !its.endsWith('/timeline') ? 0 : 60;
    return (
      (its === path ? 100 : kindOf(its) === kindOf(path) ? 50 : -Infinity) +
      2 * names.filter(equal).length -
      names.length -
      apart
    );
  };
  const good = [...recordings.values()].filter((each) => each.status === 200 && alike(each) >= 0);
  return good.toSorted((a, b) => alike(b) - alike(a))[0];
}

/** `file`: another place than that of its question. */
export function write(recorded: Recorded, file = fileOf(recorded.asked)): void {
  writeFileSync(file, `${JSON.stringify(recorded)}\n`);
}

function fileOf(asked: string): string {
  const slug = asked
    .replace(/^\/api\/v1\//, '')
    .replace(/\?.*/, '')
    .replace(/[^a-z0-9]+/gi, '-');
  const short = createHash('sha256').update(asked).digest('hex').slice(0, 8);
  return join(FOLDER, `${slug}-${short}.json`);
}
