// What the real server answers of the story's lake in which the burst never happened (`without.py`, asked by `record.ts`): the
// job slows down and its CPU rises, and no commit is near.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { root } from '../browser.ts';
import { NIGHT, TABLE } from './moment.ts';
import type { Recorded } from './recordings.ts';
import type { Timeline } from './wire.ts';

export const FOLDER = join(root, 'e2e/ui/without');
const LANES = 'alerts,job_duration,job_runs,commits,schema,data_files,file_size,delete_files,freshness,cpu';
const ASKED = `/api/v1/tables${TABLE.slice(2)}`;
/** Each is a file in the folder, in the form of the recordings. */
export const QUESTIONS = {
  explain: `${ASKED}/explain?${NIGHT}`,
  timeline: `${ASKED}/timeline?${NIGHT}&lanes=${LANES}&step=30`,
} as const;

const readRecorded = (name: keyof typeof QUESTIONS): unknown =>
  (JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Recorded).body;

/** Of the night; what else a page asks is answered as ever. */
export async function withoutBurst(page: Page): Promise<void> {
  await page.route(/\/explain\?/, (route) => route.fulfill({ json: readRecorded('explain') }));
  await page.route(/\/timeline\?.*step=30/, async (route) => {
    const url = new URL(route.request().url());
    const asked = url.searchParams.get('lanes')?.split(',');
    url.searchParams.delete('lanes');
    const usual = (await (await route.fetch({ url: url.href })).json()) as Timeline;
    const { lanes } = readRecorded('timeline') as Timeline;
    const wanted = asked ?? usual.lanes.map(({ id }) => id);
    await route.fulfill({ json: { ...usual, lanes: lanes.filter(({ id }) => wanted.includes(id)) } });
  });
}
