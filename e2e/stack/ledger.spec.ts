// The effects of the night: the ledger has the compaction of 05:30 with bounds around what the story did to the reader, and
// claims nothing of compactions that did nothing.
import type { APIRequestContext } from '@playwright/test';
import { expect, test } from './fixtures.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

interface Row {
  operation_id: string;
  job_name: string;
  measure: string;
  writer: string | null;
  verdict: string;
  ratio_low: number | null;
  ratio_high: number | null;
  runs_before: number | null;
  more_runs: number | null;
}

/** Writers of compactions on request, which belong to other scenarios. */
const ON_REQUEST: readonly (string | null)[] = ['demo_compact', 'limnograph-maintain'];

/** Measured effects on durations. */
async function measured(api: APIRequestContext): Promise<Row[]> {
  const answer = await api.get('/api/v1/effects?limit=200&measure=duration');
  const { rows } = (await answer.json()) as { rows: Row[] };
  return rows.filter((row) => row.runs_before !== null && !ON_REQUEST.includes(row.writer));
}

test('the ledger measures the compaction of 05:30, and claims nothing of the others', async ({
  page,
  request,
  story,
}) => {
  test.setTimeout(7 * MINUTE);
  const { usual_seconds: usual, slow_seconds: slow, job_name: job } = story.slowdown;
  const ofRepair = async () =>
    (await measured(request)).find(
      (row) => row.operation_id === story.repair.snapshot_id && row.job_name === job,
    );
  // measured with a fifth of a core, newest operations first
  await expect.poll(ofRepair, { timeout: 6 * MINUTE, intervals: [2 * SECOND] }).toBeTruthy();
  const repair = (await ofRepair())!;
  expect(repair.verdict).toBe('helped');
  expect(repair.ratio_low!).toBeLessThanOrEqual(usual / slow);
  expect(repair.ratio_high!).toBeGreaterThanOrEqual(usual / slow);

  const innocent = (await measured(request)).filter((row) => row.operation_id !== story.repair.snapshot_id);
  expect(innocent.filter((row) => ['helped', 'worse'].includes(row.verdict))).toEqual([]);
  const judged = innocent.filter(
    (row) => row.verdict === 'none' || (row.verdict === 'unknown' && row.more_runs),
  );
  expect(judged).not.toEqual([]);

  await page.goto('/maintenance/ledger');
  const effects = page.getByRole('list', { name: 'Effects, newest operation first' });
  await expect(effects.getByRole('group', { name: new RegExp(`${job} .*faster`) }).first()).toBeVisible();
});
