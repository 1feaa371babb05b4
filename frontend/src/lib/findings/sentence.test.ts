import { afterEach, describe, expect, test } from 'vitest';
import { zone } from '#lib/preferences/zone.svelte.ts';
import { effectSentences } from './effect.ts';
import { effect, finding, NOW, OPENED, recovered, silent, SNAPSHOT } from './fixtures.ts';
import { boundsWords, headlineOf } from './headline.ts';
import { causeSentence, ordinal, sentenceOf, stateSentence } from './sentence.ts';
import { CODES, codeWord, endWord, lookOf, type Finding } from './words.ts';

afterEach(() => zone.read(null));

const DAY = 86_400_000;
const headline = (change: Partial<Finding>) => headlineOf(finding({ evidence: {}, ...change }), NOW);
const closed = { state: 'closed', closed_at: NOW, closed_by: '1' } as const;

test('the cause of a collision is the writer that committed first, as often as that is known', () => {
  const cause = { snapshot_ids: [SNAPSHOT], writer: 'events', share: 0.8 };
  const of = (change: Partial<Finding>) =>
    causeSentence(finding({ code: 'commit_contention', evidence: {}, ...change }), NOW);
  expect(of({ cause })).toBe('events committed first in 80 % of the collisions');
  expect(of({ cause: { ...cause, share: null } })).toBe('events committed first');
  expect(of({ cause: { ...cause, writer: null } })).toBeNull();
});

describe('headlines', () => {
  const debt = { debt_saved_files: 1499, debt_files: 1520, total_data_files: 1620 };
  test.each<[string, Partial<Finding>, string]>([
    [
      'burst',
      { code: 'file_burst', evidence: { files: 1500, files_before: 120 } },
      'Data files rose from 120 to 1,620 at once',
    ],
    [
      'half repaired',
      { code: 'file_burst', evidence: { files: 1500, files_before: 120, removed_files: 900 } },
      'Data files rose from 120 to 1,620 at once; 600 of the new ones remain',
    ],
    [
      'one partition',
      {
        code: 'too_many_files',
        evidence: { partition_files_max: 12_000, threshold: 10_000, total_data_files: 20_000 },
      },
      'One partition has 12,000 data files',
    ],
    [
      'many',
      {
        code: 'too_many_files',
        evidence: { partition_files_max: 90, threshold: 100_000, total_data_files: 120_000 },
      },
      'The table has 120,000 data files',
    ],
    [
      'bytes beyond the retention',
      { code: 'held_bytes', subject: '', evidence: { freed_bytes: 5e9 } },
      "5.0 GB are held by snapshots older than the table's own retention",
    ],
    [
      'a tag that is kept on purpose',
      { code: 'held_bytes', subject: 'v1', evidence: { ref_bytes: 1e9, ref: 'tag', kept_days: 30 } },
      'Tag v1 alone holds 1.0 GB; it expires after 30 days',
    ],
    [
      'deleted rows',
      {
        code: 'deletes_not_materialized',
        evidence: { total_position_deletes: 120_000, total_records: 1_000_000 },
      },
      '120,000 of 1,000,000 rows are deleted, but are still in the data files',
    ],
    [
      'deleted rows that old snapshots reach',
      { code: 'deletes_not_materialized', evidence: { rewritten: NOW, total_position_deletes: 0 } },
      'Deleted rows are still in files that old snapshots reach',
    ],
    [
      'cold data without reports',
      { code: 'cold_data', evidence: { cold_bytes: 1e12, days: 90, reads_known: 0 } },
      '1.0 TB are in partitions without a write for 90 days',
    ],
    [
      'a reader that expiry would hit',
      { code: 'reader_at_risk', subject: 'stream', evidence: { snapshot: '7' } },
      "stream needs snapshot 7, which the table's own retention removes before the next read",
    ],
    [
      'tiny commits',
      { code: 'tiny_commits', subject: 'orders-api', evidence: { commits: 288 } },
      'orders-api makes 288 commits a day with a few rows each',
    ],
    [
      'an engine that cannot read',
      { code: 'format_incompatible', subject: 'trino 470', evidence: { feature: 'format version 3' } },
      'trino 470, which reads the table, does not support format version 3',
    ],
    [
      'a full database',
      { code: 'catalog_near_limit', subject: 'lake.sales', evidence: { tables: 85_000, limit: 100_000 } },
      'lake.sales has 85,000 tables of at most 100,000',
    ],
    [
      'a slow catalog',
      { code: 'catalog_near_limit', subject: '', evidence: { p95_seconds: 2.5 } },
      'The catalog responds in 2.5 s at the 95th percentile',
    ],
    [
      'a stream',
      { code: 'stream_lag', subject: 'clicks', evidence: { lag_seconds: 600 } },
      'Stream clicks is 10 m behind its source',
    ],
    [
      'old metadata',
      { code: 'metadata_versions_kept', evidence: { metadata_log_entries: 140 } },
      'The table keeps 140 old metadata files',
    ],
    [
      'late table',
      { code: 'objective_missed', subject: '', evidence: { threshold_seconds: 900 } },
      'The last commit is older than its objective of 15 m',
    ],
    [
      'long job',
      { code: 'objective_missed', subject: 'churn', ...closed, evidence: { threshold_seconds: 600 } },
      'churn took longer than its objective of 10 m',
    ],
    [
      'slow queries',
      { code: 'objective_missed', subject: 'queries', evidence: { threshold_seconds: 5, seconds: 8 } },
      'The 95th percentile of query times is above its objective of 5 s: now 8 s',
    ],
    [
      'late events',
      {
        code: 'objective_missed',
        subject: 'event_to_queryable',
        evidence: { threshold_seconds: 300, seconds: 480 },
      },
      'Events become queryable later than its objective of 5 m: now 8 m',
    ],
    [
      'an expensive table',
      {
        code: 'objective_missed',
        subject: 'cost_per_gb_month',
        evidence: { cost: 0.3181, threshold: 0.1, currency: 'EUR' },
      },
      'A live GB costs 0.32 EUR a month, above its objective of 0.10',
    ],
    [
      'queries that were slow',
      {
        code: 'objective_missed',
        subject: 'queries',
        ...closed,
        evidence: { threshold_seconds: 5, seconds: 2 },
      },
      'The 95th percentile of query times was above its objective of 5 s',
    ],
    [
      'collisions',
      {
        code: 'commit_contention',
        evidence: { lost: 6, attempts: 26, loser: 'merge', winner: 'events', stream: 'events' },
      },
      '6 of 26 attempts to commit were in vain: merge lost to events (a stream)',
    ],
    [
      'collisions of an unknown writer',
      { code: 'commit_contention', ...closed, evidence: { winner: 'events' } },
      "Commits got in each other's way: a writer lost to events",
    ],
    [
      'a stream and a batch job',
      {
        code: 'stream_batch_conflict',
        evidence: { conflicts: 3, loser: 'merge', winner: 'events', stream: 'events' },
      },
      '3 commits of a stream and a batch job met and were refused: merge lost to events (a stream)',
    ],
    [
      'small',
      { code: 'small_files', evidence: debt },
      'Compaction is 1,499 files behind: it would rewrite 1,520 of 1,620 data files',
    ],
    [
      'small, one number',
      { code: 'small_files', evidence: { debt_files: 1520 } },
      'Compaction would rewrite 1,520 data files',
    ],
    [
      'small, closed',
      { code: 'small_files', ...closed, evidence: { peak: 1499 } },
      'Compaction was up to 1,499 files behind',
    ],
    [
      'many',
      { code: 'too_many_files', evidence: { total_data_files: 120_000, total_bytes: 984e9 } },
      'The table has 120,000 data files, 8.2 MB on average',
    ],
    [
      'stopped',
      { code: 'compaction_stopped', evidence: debt },
      'Compaction has stopped; it is 1,499 files behind',
    ],
    ['stopped, closed', { code: 'compaction_stopped', ...closed }, 'Compaction had stopped'],
    [
      'ineffective',
      { code: 'compaction_ineffective', evidence: debt },
      'Compaction runs without effect: 1,520 of 1,620 data files still need it',
    ],
    [
      'deletes',
      { code: 'delete_files_growing', evidence: { total_delete_files: 340, total_data_files: 1200 } },
      'Delete files accumulate without being merged: 340 delete files for 1,200 data files',
    ],
    [
      'equality',
      { code: 'equality_deletes', evidence: { total_equality_deletes: 1200 } },
      'The table has live equality deletes of 1,200 rows',
    ],
    [
      'snapshots',
      { code: 'snapshots_unbounded', evidence: { live_snapshots: 900 } },
      'The table keeps 900 snapshots, some beyond their maximum age',
    ],
    [
      'metadata',
      { code: 'metadata_large', evidence: { metadata_bytes: 6.2e6, live_snapshots: 900 } },
      'The metadata file is 6.2 MB large and lists 900 snapshots',
    ],
    [
      'manifests',
      { code: 'manifests_fragmented', evidence: { manifests: 120, manifest_bytes: 25_200_000 } },
      'The table has 120 manifests, 210 kB on average',
    ],
    [
      'skew',
      { code: 'partition_skew', evidence: { skew_max_over_median: 14.2, partitions_total: 12 } },
      'The largest of 12 partitions is 14× as large as the median',
    ],
    [
      'hot partition',
      { code: 'hot_partition', subject: 'day=2026-11-20', evidence: { peak: 14.2, threshold: 10 } },
      'Partition day=2026-11-20 is 14× as large as such partitions usually are',
    ],
    [
      'null share',
      {
        code: 'null_share_jump',
        subject: 'customer_id',
        evidence: { null_share: 0.325, usual_share: 0.004, nulls: 400, values: 1231 },
      },
      '33 % of customer_id are null, usually 0.4 %',
    ],
    [
      'bounds',
      { code: 'bounds_jump', subject: 'amount', evidence: { range_ratio: 51, lower: '-5000', upper: '100' } },
      'Values of amount span 51× the usual range',
    ],
    [
      'future',
      { code: 'bounds_jump', subject: 'at', evidence: { future: 1 } },
      'at has values in the future',
    ],
    [
      'distinct',
      { code: 'cardinality_jump', subject: 'device', evidence: { distinct: 3, usual_distinct: 1002 } },
      'device has 3 distinct values, usually 1,002',
    ],
    [
      'breaking',
      { code: 'schema_breaking', evidence: { what: 'payload was dropped', from: '3', to: '4' } },
      'A schema change can break readers: payload was dropped',
    ],
    [
      'schema',
      { code: 'schema_changed', evidence: { from: '3', to: '4' } },
      'The schema changed: schema 3 → 4',
    ],
    [
      'spec',
      { code: 'spec_changed', evidence: { from: '0', to: '1' } },
      'The partition spec changed: spec 0 → 1',
    ],
    [
      'stale',
      { code: 'stale', evidence: { usual_seconds: 300 } },
      'No commit has arrived since 02:08 UTC; the table usually gets one every 5 m',
    ],
    [
      'stale, closed',
      { code: 'stale', ...closed, evidence: { usual_seconds: 300 } },
      'No commit arrived for 3 h 51 m; the table usually got one every 5 m',
    ],
    [
      'gap',
      { code: 'history_gap', evidence: { from: '1', to: '2' } },
      'Commits between 1 and 2 are not known',
    ],
    [
      'stale reader',
      {
        ...{ code: 'stale_reader', group: 'readers', subject: 'dashboard' },
        evidence: { behind_seconds: 9000, behind_commits: 31 },
      },
      'dashboard reads snapshots that main had left 2 h 30 m before, 31 commits ago',
    ],
    [
      'two pointers',
      {
        ...{ code: 'two_pointers', group: 'readers', subject: 'old.sales.orders' },
        evidence: { pointers: 'lake.sales.orders at snapshot 7; old.sales.orders at snapshot 3' },
      },
      'old.sales.orders registers the same table and points at another snapshot: lake.sales.orders at snapshot 7; old.sales.orders at snapshot 3',
    ],
    [
      'unpruned filter',
      {
        ...{ code: 'filter_not_pruned', group: 'readers', subject: 'customer_id' },
        evidence: { share: 0.83, opened_share: 0.9 },
      },
      '83 % of scans filter customer_id, which neither partitions nor sorts the table; they open 90 % of its files',
    ],
    [
      'unpruned filter, closed',
      { code: 'filter_not_pruned', group: 'readers', ...closed, subject: 'customer_id', evidence: {} },
      'Most scans filtered customer_id, which neither partitions nor sorts the table',
    ],
    [
      'unreadable',
      { code: 'unreadable', evidence: { problem: 'not-found', what: 'metadata.json does not exist' } },
      "The table's metadata cannot be read: metadata.json does not exist",
    ],
    [
      'slower',
      {
        code: 'job_slower',
        group: 'jobs',
        subject: 'churn',
        evidence: { ratio: 3.08, ratio_low: 2.6, ratio_high: 3.7, usual_seconds: 52, seconds: 160 },
      },
      'churn takes 3.1× as long as usual (2.6 to 3.7), 160 s instead of 52 s',
    ],
    [
      'slower, no ratio',
      { code: 'job_slower', subject: 'churn', evidence: { usual_seconds: 52, seconds: 160 } },
      'churn takes 160 s instead of 52 s',
    ],
    [
      'silent',
      { code: 'job_silent', subject: 'churn', evidence: { last_run: OPENED, usual_gap_seconds: 300 } },
      'No run of churn has ended since 02:08 UTC; it usually runs every 5 m',
    ],
    [
      'silent, yesterday',
      { code: 'job_silent', subject: 'churn', evidence: { last_run: OPENED - DAY } },
      'No run of churn has ended since 20 Nov, 02:08 UTC',
    ],
    [
      'silent, closed',
      { code: 'job_silent', subject: 'churn', ...closed, evidence: { last_run: NOW - 3_600_000 } },
      'No run of churn ended for 1 h',
    ],
    [
      'failing',
      { code: 'job_failing', subject: 'churn', evidence: { failed: 8, runs: 10 } },
      '8 of the last 10 runs of churn failed',
    ],
  ])('%s', (_, change, said) => expect(headline(change)).toBe(said));

  test.each(CODES)('%s without evidence is a sentence, open and closed, that claims no number', (code) => {
    for (const end of [{}, closed]) {
      const said = headline({ code, ...end });
      expect(said).toMatch(/^[A-Z][^.]*(?:[a-z]|UTC| 3 h 51 m)$/);
      expect(said).not.toMatch(/NaN|\bnull\b|undefined|not read|\b0\b/);
    }
  });

  test.each(CODES)('%s ignores evidence of another kind', (code) => {
    const names = ['files', 'bytes', 'debt_files', 'seconds', 'ratio', 'last_run', 'runs', 'manifests'];
    const odd = Object.fromEntries(names.map((name) => [name, NaN]));
    expect(headline({ code, evidence: odd })).not.toMatch(/NaN|not read/);
  });

  test('a word of each code is lower case', () => {
    for (const code of CODES) expect(codeWord(code)).toMatch(/^[a-z -]+$/);
  });
});

describe('causes', () => {
  test('a burst names its writer, size and time', () =>
    expect(causeSentence(finding(), NOW)).toBe(
      'demo_burst added 1,500 files, 2 kB on average, at 02:08:42 UTC',
    ));
  test('times are in the zone of the reader', () => {
    zone.read('Europe/Berlin');
    expect(causeSentence(finding(), NOW)).toContain('at 03:08:42 UTC+01');
    expect(causeSentence(finding({ opened_at: OPENED - DAY }), NOW)).toContain(
      'on 20 Nov at 03:08:42 UTC+01',
    );
  });
  test('without a writer or a size, the rest stays', () => {
    const cause = { snapshot_ids: [SNAPSHOT], writer: null, share: null };
    expect(causeSentence(finding({ cause, evidence: { files: 1 } }), NOW)).toBe(
      'One commit added 1 file at 02:08:42 UTC',
    );
    const several = { snapshot_ids: ['1', '2', '3'], writer: 'etl', share: 1 };
    expect(causeSentence(finding({ cause: several, evidence: {} }), NOW)).toBe(
      'etl added many small files in 3 commits at 02:08:42 UTC',
    );
  });
  test.each<[Finding['code'], string]>([
    ['small_files', 'etl added 90 % of the data files since the last maintenance'],
    ['delete_files_growing', 'etl added 90 % of the delete files since the last maintenance'],
    ['metadata_large', 'etl made 90 % of the commits since the last maintenance'],
  ])('%s names the writer with its share', (code, said) =>
    expect(
      causeSentence(finding({ code, cause: { snapshot_ids: [], writer: 'etl', share: 0.9 } }), NOW),
    ).toBe(said),
  );
  test('an unknown share is no share', () =>
    expect(
      causeSentence(
        finding({ code: 'small_files', cause: { snapshot_ids: ['1'], writer: 'etl', share: null } }),
        NOW,
      ),
    ).toBe('It began with a commit of etl at 02:08 UTC'));
  test('no cause is null', () => expect(causeSentence(finding({ cause: null }), NOW)).toBeNull());
});

describe('effects', () => {
  const said = (change: Partial<Finding>) => effectSentences(finding(change), NOW);
  test('slower has ratio, bounds and size', () =>
    expect(said({})).toEqual(['churn takes 3.1× as long (2.6 to 3.7), 108 s more per run']));
  test('an open bound is named, a missing size left out', () =>
    expect(said({ effects: [effect({ ratio_high: null, seconds: null })] })).toEqual([
      'churn takes 3.1× as long (at least 2.6)',
    ]));
  test('without a run since, it is no all-clear', () => {
    expect(said({ effects: [silent()] })).toEqual([
      'No run of churn has ended since; the last one ended at 02:01 UTC',
    ]);
    expect(said({ effects: [silent({ last_run_at: null })] })).toEqual([
      'No run of churn has ended since; no earlier run is known',
    ]);
    expect(said({ effects: [silent({ runs: 3, because: '3 of 8 runs' })] })).toEqual([
      'Only 3 runs of churn have ended since, of 8 runs needed',
    ]);
  });
  test('none, faster and unknown', () => {
    expect(
      said({
        effects: [
          effect({ verdict: 'none', ratio_low: 0.97, ratio_high: 1.04 }),
          effect({ verdict: 'faster', ratio: 0.8, ratio_low: 0.7, ratio_high: 0.9, seconds: -12 }),
          effect({ verdict: 'unknown', because: 'the controls disagree' }),
          silent({ job_name: 'other' }),
        ],
      }),
    ).toEqual([
      'No run of other has ended since; the last one ended at 02:01 UTC',
      'The effect on churn is unknown: the controls disagree',
      'churn takes 0.8× as long (0.7 to 0.9), 12 s less per run',
      'No effect on churn (−3 % to +4 %)',
    ]);
  });
  test('no job, no measurement, nothing to measure', () => {
    expect(said({ effects: [] })).toEqual(['No known job reads the table']);
    expect(said({ code: 'small_files', effects: [] })).toEqual(['The effect on jobs is not measured']);
    expect(said({ code: 'schema_breaking', group: 'schema', effects: [] })).toEqual([
      'No known job reads the table',
    ]);
    expect(said({ code: 'spec_changed', group: 'schema', effects: [] })).toEqual([]);
    expect(said({ code: 'stale', group: 'health', effects: [] })).toEqual([]);
  });
  test('bounds without a number are none', () => expect(boundsWords(null, null)).toBeNull());
});

describe('states', () => {
  test('open, with its age and how often it came', () => {
    expect(stateSentence(finding(), NOW)).toBe('Open for 3 h 51 m, since 02:08 UTC');
    expect(stateSentence(finding({ recurrences: 2 }), NOW)).toBe(
      'Open for 3 h 51 m, since 02:08 UTC; 3rd time in 30 days',
    );
  });
  test('an old evaluation is mentioned, an unknown one is not', () => {
    expect(stateSentence(finding({ evaluated_at: NOW - 11 * 60_000 }), NOW)).toContain(
      'last evaluated at 05:49 UTC, because its catalog does not respond',
    );
    expect(stateSentence(finding({ evaluated_at: null }), NOW)).not.toContain('evaluated');
  });
  test.each<[string, Partial<Finding>, string]>([
    ['a snapshot', {}, 'Recovered at 05:30 UTC by snapshot 378142004021992640'],
    ['nothing known', { closed_by: null }, 'Recovered at 05:30 UTC'],
    ['its age', { closed_by: 'expired' }, 'Expired at 05:30 UTC'],
    ['retirement', { closed_by: 'retired' }, 'Retired at 05:30 UTC'],
    ['being readable', { code: 'unreadable', closed_by: 'retracted' }, 'Readable again at 05:30 UTC'],
    ['a run', { code: 'job_silent', group: 'jobs', closed_by: 'run' }, 'Recovered at 05:30 UTC with a run'],
    [
      'a run by name',
      { code: 'job_silent', group: 'jobs', closed_by: '17' },
      'Recovered at 05:30 UTC by run 17',
    ],
  ])('closed by %s', (_, change, said) => expect(stateSentence(recovered(change), NOW)).toBe(said));
  test('only what recovered looks healthy', () => {
    expect(lookOf(recovered())).toMatchObject({ word: 'Recovered', tone: 'c-ok' });
    expect(lookOf(recovered({ closed_by: 'expired' }))).toMatchObject({ word: 'Expired', tone: 'c-unknown' });
    expect(lookOf(finding())).toMatchObject({ word: 'Critical' });
    expect(endWord(recovered({ closed_by: 'merged' }))).toBe('Merged into an earlier finding');
  });
  test('ordinals', () =>
    expect([1, 2, 3, 4, 11, 12, 13, 21, 22, 112].map(ordinal).join(' ')).toBe(
      '1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 112th',
    ));
});

test('the next step opens the timeline around the opening, with the commit', () => {
  const { next } = sentenceOf(finding(), NOW);
  const url = new URL(next.href ?? '', 'http://x');
  expect([url.pathname, ...['from', 'at', 'c'].map((name) => url.searchParams.get(name))]).toEqual([
    '/t/lake/sales/orders',
    ...[String(OPENED - 3_600_000), String(OPENED), SNAPSHOT],
  ]);
  expect(sentenceOf(finding({ table: '' }), NOW).next.href).toBeNull();
  for (const code of CODES) expect(sentenceOf(finding({ code }), NOW).next.advice).toMatch(/^[A-Z].*[a-z]$/);
});
