import { describe, expect, test } from 'vitest';
import { BAND, NO_CHANGE, place, TICKS } from './axis.ts';
import { ledgerCsv } from './export.ts';
import { EACH, ledgerRow, SNAPSHOT } from './fixtures.ts';
import { lastOperationSentences, notesOf } from './notes.ts';
import {
  ANY,
  choiceOf,
  cursorHref,
  isNarrowed,
  LEDGER_RANGE,
  ledgerHref,
  ledgerQuestion,
  rangeHref,
  readRange,
  tableLedgerHref,
  unreadOf,
} from './question.ts';
import { basisWords, jobName, operationName, refOf, spokenRow } from './words.ts';

const NOW = Date.UTC(2026, 10, 21, 6);
const DAY = 86_400_000;

describe('the axis', () => {
  const interval = (ratio: number | null, ratio_low: number | null, ratio_high: number | null) =>
    place({ ratio, ratio_low, ratio_high });

  test('is symmetric: half as long is as far from no change as twice as long', () => {
    expect(NO_CHANGE).toBeCloseTo(50);
    expect(TICKS.map(({ at }) => Math.round(at))).toEqual([0, 29, 42, 50, 57, 71, 100]);
    expect(BAND[0]).toBeLessThan(NO_CHANGE);
    expect(BAND[1]).toBeGreaterThan(NO_CHANGE);
  });

  test('an interval within it ends at its bounds', () => {
    const placed = interval(0.86, 0.81, 0.92);
    expect(placed).toMatchObject({ left: 'bound', right: 'bound', beyond: null });
    expect(placed!.from).toBeLessThan(placed!.point!);
    expect(placed!.to).toBeLessThan(NO_CHANGE);
  });

  test('what is beyond it is clipped at its ends, and an open side is not a bound', () => {
    expect(interval(0.02, 0.015, 0.03)).toEqual({
      ...{ from: 0, to: 0, left: 'clipped', right: 'bound', point: 0, beyond: 'left' },
    });
    expect(interval(30, 1.5, 45)).toMatchObject({ to: 100, right: 'clipped', point: 100, beyond: 'right' });
    expect(interval(1.1, null, null)).toMatchObject({
      ...{ from: 0, to: 100, left: 'unbounded', right: 'unbounded' },
    });
    expect(interval(0, 0, 0.5)).toMatchObject({ point: 0, beyond: 'left' });
  });

  test('without estimate and bounds there is nothing to place', () =>
    expect(interval(null, null, null)).toBeNull());
});

describe('the address', () => {
  test('holds every filter, and what is not offered counts as any', () => {
    const params = new URLSearchParams(
      'table=lake.sales.orders&owner=x&job=churn&measure=files&verdict=worse',
    );
    expect(choiceOf(params)).toEqual({
      ...{ table: 'lake.sales.orders', owner: 'x', action: '', writer: '', job: 'churn' },
      ...{ measure: 'files', verdict: 'worse' },
    });
    const odd = new URLSearchParams('measure=bytes&verdict=great');
    expect(isNarrowed(choiceOf(odd))).toBe(false);
    expect(unreadOf(odd)).toEqual(['measure', 'verdict']);
  });

  test('a change starts at the first page and leaves the parameters of others', () => {
    const params = new URLSearchParams('job=churn&cursor=abc&tz=Europe/Berlin');
    expect(ledgerHref(params, { verdict: 'helped' })).toBe(
      '/maintenance/ledger?job=churn&tz=Europe%2FBerlin&verdict=helped',
    );
    expect(ledgerHref(params, ANY)).toBe('/maintenance/ledger?tz=Europe%2FBerlin');
    expect(cursorHref(params, 'def')).toContain('cursor=def');
    expect(cursorHref(new URLSearchParams('cursor=abc'), null)).toBe('/maintenance/ledger');
    expect(tableLedgerHref('lake.sales.orders')).toBe('/maintenance/ledger?table=lake.sales.orders');
  });

  test('the last 30 days are usual; another range is kept, one that cannot be read is reported', () => {
    const usual = readRange(new URLSearchParams(), NOW);
    expect([usual.range.from, usual.range.to]).toEqual([NOW - 30 * DAY, NOW]);
    expect(rangeHref(new URLSearchParams('from=now-7d&cursor=x'), LEDGER_RANGE)).toBe('/maintenance/ledger');
    expect(rangeHref(new URLSearchParams('job=a'), { from: 'now-7d', to: 'now' })).toBe(
      '/maintenance/ledger?job=a&from=now-7d&to=now',
    );
    expect(readRange(new URLSearchParams('from=soon'), NOW)).toMatchObject({
      ...{ text: LEDGER_RANGE, unread: ['from'] },
    });
  });

  test('a request has the filters that are set; with a cursor, the range is that of the first page', () => {
    const choice = { ...ANY, job: 'churn' };
    expect(ledgerQuestion(choice, { from: 1, to: 2 }, null)).toEqual({
      from: 1,
      to: 2,
      limit: 50,
      job: 'churn',
    });
    expect(ledgerQuestion(choice, { from: 1, to: 2 }, 'abc')).toEqual({
      limit: 50,
      job: 'churn',
      cursor: 'abc',
    });
  });
});

describe('a row in words', () => {
  test('reads as sentences', () => {
    expect(spokenRow(ledgerRow())).toBe(
      '21 Nov 2026, 05:30:00 UTC: The compaction of lake.sales.orders by nightly made churn 14 % faster (8 to 19 %). 96 runs before, 24 after, 3 controls.',
    );
    expect(spokenRow(ledgerRow({ catalog: null, writer: null, measure: 'files', job_name: '' }))).toBe(
      '21 Nov 2026, 05:30:00 UTC: The compaction of table u-1 made scans open 14 % fewer files (8 to 19 %). 96 scans before, 24 after.',
    );
  });

  test('an action without a name of its own is shown as it is', () => {
    const named = (action: string | null, snapshot_id: string | null = SNAPSHOT) =>
      operationName({ action, snapshot_id });
    expect([named('rewrite_manifests'), named('vacuum'), named(null), named(null, null)]).toEqual([
      'rewrite of manifests',
      'vacuum',
      'replace',
      'snapshot expiry',
    ]);
  });

  test('what has no job is not called a scan, and a name that is empty is none', () => {
    expect(jobName(ledgerRow({ job_name: '' }))).toBe('no known job');
    expect(jobName(ledgerRow({ job_name: '', measure: 'files' }))).toBe('all scans');
    expect(refOf(ledgerRow({ table: '' }))).toBeNull();
  });

  test('unknown counts are not zero', () => {
    expect(basisWords(ledgerRow({ runs_before: null, controls: null }))).toEqual([
      'runs before unknown, 24 after',
    ]);
    expect(basisWords(ledgerRow({ controls: 0 })).at(-1)).toBe('no controls');
  });
});

describe('marks of a timeline', () => {
  test('one per operation with a verdict, the worst first', () => {
    const [note, ...more] = notesOf(EACH);
    expect(more).toEqual([]);
    expect(note).toMatchObject({ id: SNAPSHOT, commit: true, verdict: 'worse' });
    expect(note!.sentence).toMatch(/^This compaction made slow 18 % slower .* made churn 14 % faster/);
  });

  test('an expiry has no commit; without a verdict there is no mark', () => {
    const expiry = { operation_id: 'expired:m.json', snapshot_id: null, action: 'expire_snapshots' };
    expect(notesOf([ledgerRow(expiry)])).toMatchObject([{ id: 'expired:m.json', commit: false }]);
    expect(notesOf(EACH.slice(3))).toEqual([]);
  });
});

describe('an incident', () => {
  const rows = [
    ledgerRow({ job_name: 'a', verdict: 'no_data_yet', runs_after: 2 }),
    ledgerRow({ job_name: 'b', measure: 'planning' }),
    ledgerRow({ job_name: 'b' }),
    ledgerRow({ job_name: 'c' }),
    ledgerRow({ job_name: 'a', operation_id: 'older' }),
  ];
  const about = (options?: Parameters<typeof lastOperationSentences>[1]) =>
    lastOperationSentences(rows, options).map((sentence) => / (a|b|c)(?= \d|: )/.exec(sentence)?.[1]);

  test('has the newest row of two jobs at most, the job that is drawn first', () => {
    expect(about()).toEqual(['a', 'b']);
    expect(about({ first: 'c' })).toEqual(['c', 'a']);
    expect(lastOperationSentences(rows)[0]).toMatch(/^No data yet .* 2 of 8 runs so far\.$/);
  });

  test('is about the job that the alert names, or has no sentence', () => {
    expect(about({ only: 'b', first: 'c' })).toEqual(['b']);
    expect(about({ only: 'other' })).toEqual([]);
    expect(lastOperationSentences([])).toEqual([]);
  });
});

test('the export has values as they are; names that look like formulas stay text', () => {
  const [head, first, second] = ledgerCsv([
    ledgerRow({ job_name: '=HYPERLINK("http://evil.example")' }),
    ledgerRow({ ratio: null, measure: 'files', others: ['1', '2'] }),
  ]).split('\r\n');
  expect(head).toMatch(
    /^committed_at,catalog,namespace,table,table_uuid,operation_id,action,writer,owner,job,measure/,
  );
  expect(first).toContain(`2026-11-21T05:30:00Z,lake,sales,orders,u-1,${SNAPSHOT},rewrite_data_files`);
  expect(first).toContain(`"'=HYPERLINK(""http://evil.example"")"`);
  expect(second).toContain(',,0.81,0.92,-14,-19,-8,files,96,24,,3,1 2,');
});
