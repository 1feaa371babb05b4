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
