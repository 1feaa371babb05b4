import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Schemas } from '#lib/api/client.ts';
import type { CommitEvent } from '#lib/api/lanes.ts';
import { lanesFor, withAlert } from './lanes.ts';
import { graphHref, waysOut } from './out.ts';
import { finding, SNAPSHOT } from '#lib/findings/fixtures.ts';
import { findingStory, reportOf } from './report.ts';
import { ignorableWhen, runbookName, runbookOfRule, stepsOf } from './runbook.ts';
import { leadText, plainSentence, suspectSentence } from './sentences.ts';
import { measureOf, suspectsOf } from './suspects.ts';

const FIRED = Date.UTC(2026, 10, 21, 3, 5, 30);
const MINUTE = 60_000;

function incident(
  name = 'SmallFileProliferation',
  more: Partial<Schemas['Incident']> = {},
): Schemas['Incident'] {
  return {
    alert: {
      ...{ fingerprint: '9266ef3da838ad95', starts_at: FIRED, ends_at: null, state: 'firing' as const },
      ...{ alert_name: name, severity: 'critical', job_name: null, summary: null, source: 'alertmanager' },
      ...{
        table: { catalog: 'lake', table_namespace: 'sales', table: 'orders' },
        heard_at: null,
        muted: null,
      },
    },
    ...{ active_at: null, window: { from: FIRED - 60 * MINUTE, to: null }, labels: {}, annotations: {} },
    ...{ expression: null, transitions: [], commits: [], before: [], links: [], finding: null },
    ...{ earlier: [], notes: 0 },
    ...more,
  };
}

function commit(minutesBefore: number, added: number, more: Partial<CommitEvent> = {}): CommitEvent {
  return {
    ...{
      t: FIRED - minutesBefore * MINUTE,
      operation: 'append',
      added_data_files: added,
      removed_data_files: 0,
    },
    ...{ added_delete_files: 0, added_bytes: added * 900_000, snapshot_id: `${minutesBefore}${added}` },
    ...{
      on_main: true,
      commits: 1,
      expired: null,
      app_id: null,
      engine: null,
      provisional: false,
      status: 'ok',
    },
    ...more,
  };
}

test('a commit far larger than the others stands out, with its lead', () => {
  const usual = [5, 10, 15, 20, 40].map((minutes) => commit(minutes, 12));
  const found = suspectsOf(incident(), [...usual, commit(1.3, 50_000)]);
  expect(found.outstanding?.commit.added_data_files).toBe(50_000);
  expect(found.outstanding?.leadS).toBeCloseTo(78);
  expect(suspectSentence(found.outstanding!, FIRED)).toBe(
    'One append at 03:04:12 added 50,000 files of 0.9 MB.',
  );
});
test('between equals the one before the onset is first, and one just after it is marked as such', () => {
  const found = suspectsOf(incident(), [commit(0.1, 2_000), commit(-0.1, 2_000), commit(5, 1), commit(9, 1)]);
  expect(found.top.map(({ leadS }) => leadText(leadS)).slice(0, 2)).toEqual([
    '6 s before the alert',
    '6 s after the alert began',
  ]);
});
test('commits of the usual size have no culprit among them', () => {
  const found = suspectsOf(
    incident(),
    [5, 10, 15].map((minutes) => commit(minutes, 12)),
  );
  expect(found.outstanding).toBeNull();
  expect(plainSentence(incident(), found)).toBe(
    'No single commit stands out: 3 commits before the alert, the largest with 12 data files.',
  );
});
test('what came after the alert, before the window, off main or by compaction is no suspect', () => {
  const none = [
    commit(-5, 9_000),
    commit(90, 9_000),
    commit(5, 9_000, { on_main: false }),
    commit(6, 9_000, { operation: 'replace', removed_data_files: 50_000 }),
  ];
  expect(suspectsOf(incident(), none).top).toEqual([]);
});
test('an alert of delete files weighs delete files, one of staleness no commit', () => {
  expect(measureOf(incident('LakehouseDeleteFilesGrowing'))).toBe('delete files');
  expect(measureOf(incident('Mine', { expression: 'lakehouse_table_delete_files > 1' }))).toBe(
    'delete files',
  );
  for (const name of [
    'LakehouseTableStale',
    'LakehouseExtractionLag',
    'LimnographDown',
    'LimnographCatalogDown',
    'LimnographPipelineStalled',
    'LimnographInboxWaiting',
    'LakehouseSnapshotsTooMany',
    'LakehouseSnapshotsTooOld',
  ])
    expect(measureOf(incident(name))).toBeNull();
  const big = [commit(3, 9_000), commit(8, 3, { added_delete_files: 40 }), commit(9, 3), commit(10, 3)];
  expect(suspectsOf(incident('LakehouseDeleteFilesGrowing'), big).outstanding?.weight).toBe(40);
});
test('a stale table shows its last commit, an empty window that it is empty', () => {
  const stale = incident('LakehouseTableStale');
  expect(plainSentence(stale, suspectsOf(stale, [commit(50, 3)]))).toBe(
    'The last commit before the alert was at 02:15:30, 50 m earlier.',
  );
  expect(plainSentence(stale, suspectsOf(stale, []))).toMatch(/^No commit/);
});

test('metadata not yet read up to the alert is not reported as a lack of commits', () => {
  const found = suspectsOf(incident(), [], FIRED - 5 * MINUTE);
  expect(plainSentence(incident(), found)).toBe(
    'Commits just before the alert are not read yet: the table was read up to 03:00:30.',
  );
  expect(plainSentence(incident(), suspectsOf(incident(), [], FIRED + MINUTE))).toMatch(/^No commit/);
  // one that stands out already does not wait for more
  expect(suspectsOf(incident(), [commit(9, 50_000)], FIRED - 5 * MINUTE).outstanding).not.toBeNull();
});

test('lanes follow what the alert is about', () => {
  expect(lanesFor(incident('LakehousePartitionSkew'))).toContain('skew');
  expect(lanesFor(incident('Mine', { expression: 'lakehouse_table_delete_files > 1' }))).toContain(
    'delete_files',
  );
  expect(lanesFor(incident('LakehouseCommitContention'))).toContain('attempts');
  const writers = finding({ code: 'stream_batch_conflict', group: 'writers' });
  expect(lanesFor(incident('LakehouseFindingWarning', { finding: writers }))).toContain('attempts');
  expect(lanesFor(incident())).toEqual(['alerts', 'job_duration', 'commits', 'data_files', 'file_size']);
});
test('the time before an alert fired is pending, and the alert itself is there once', () => {
  const lane = { id: 'alerts', kind: 'bars', status: 'absent', bars: [] };
  const answer = { lanes: [lane] } as unknown as Schemas['Timeline'];
  const told = incident('A', { active_at: FIRED - 10 * MINUTE });
  const once = withAlert(answer, told, 'firing');
  const bars = (each: Schemas['Timeline']) => (each.lanes[0] as Schemas['BarsLane']).bars;
  expect(bars(once).map(({ state, end }) => [state, end])).toEqual([
    ['pending', FIRED],
    ['firing', null],
  ]);
  expect(once.lanes[0]?.status).toBe('ok');
  const known = {
    lanes: [{ ...lane, bars: [{ ...bars(once)[1]!, label: 'A' }] }],
  } as unknown as Schemas['Timeline'];
  expect(bars(withAlert(known, incident('A'), 'firing'))).toHaveLength(1);
  // the server found it too: once is enough
  expect(bars(withAlert(once, told, 'firing'))).toHaveLength(2);
  const waiting = withAlert(answer, told, 'pending');
  expect(bars(withAlert(waiting, told, 'pending'))).toHaveLength(1);
});

test('only a runbook of ours is read, whatever host its address names', () => {
  expect(runbookName('https://any.example/docs/runbooks/limnograph-down')).toBe('limnograph-down');
  for (const url of [
    'https://wiki.example/small-files',
    'https://x/docs/runbooks/../secret',
    'no address',
    null,
  ])
    expect(runbookName(url)).toBeNull();
});
test('every rule that comes with Limnograph has its runbook, and no other has one', () => {
  const files = readdirSync(new URL('../../../../docs/runbooks', import.meta.url)).sort();
  const rules = readFileSync(
    new URL('../../../../deploy/prometheus/rules/alerts.yml', import.meta.url),
    'utf8',
  );
  const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => `${runbookOfRule(name!)}.md`);
  expect(names.sort()).toEqual(files.filter((name) => name !== 'README.md'));
  expect([runbookOfRule('DiskFull'), runbookOfRule(null)]).toEqual([null, null]);
});
test('an alert of ours without a link has the runbook of its rule, one with a link keeps that', () => {
  const told = (links: Schemas['AlertLink'][]) =>
    waysOut(incident('LimnographDown', { links }), FIRED).map(({ kind, href }) => [kind, href]);
  expect(told([])).toEqual([['runbook', '/runbooks/limnograph-down']]);
  expect(told([{ kind: 'runbook', url: 'https://wiki/x', text: 'wiki' }])).toEqual([
    ['runbook', 'https://wiki/x'],
  ]);
});
const BOOK = [
  '# X',
  '```sh\nlimnograph doctor\n```',
  '## What to run',
  'Stop the writer first. Which commit it was, in Spark:',
  '```sql\nSELECT 1 FROM <catalog>.<namespace>.<table>.snapshots;\n```',
  'Spark, today:',
  "```sql\nCALL <catalog>.system.rewrite_data_files(table => '<catalog>.<namespace>.<table>');\n```",
  '## When to ignore it',
  'A planned\nbackfill.',
].join('\n\n');
test('steps of a runbook: words and what changes something first, for the table', () => {
  const steps = stepsOf(BOOK, [
    { code: null, note: 'Before' },
    { code: 'SELECT 1 FROM prod.web.clicks.snapshots;', note: null },
    { code: "CALL prod.system.rewrite_data_files(table => 'prod.web.clicks');", note: 'Left out' },
  ]);
  expect(steps.map(({ text }) => text)).toEqual([
    'Stop the writer first.',
    'Spark, today',
    'Which commit it was, in Spark',
  ]);
  expect(steps[1]?.code).toBe("CALL prod.system.rewrite_data_files(table => 'prod.web.clicks');");
  expect(steps[1]?.note).toBe('Left out');
  expect(steps[2]?.code).toBe('SELECT 1 FROM prod.web.clicks.snapshots;');
  expect(ignorableWhen(BOOK)).toBe('A planned backfill.');
});
test('a step of a shipped runbook says what its statement does, not only where it is typed', () => {
  const folder = new URL('../../../../docs/runbooks/', import.meta.url);
  const texts = readdirSync(folder).flatMap((name) =>
    stepsOf(readFileSync(new URL(name, folder), 'utf8')).map(({ text }) => text),
  );
  expect(texts.length).toBeGreaterThan(30);
  expect(texts.filter((text) => /^(Spark|Trino|PyIceberg|Shell|Run)([,;].*)?$/.test(text))).toEqual([]);
});

test('Prometheus is opened over the window, other sources where they say', () => {
  const url = 'http://prom:9090/graph?g0.expr=up%3D%3D0&g0.tab=1';
  const graph = new URL(graphHref(url, { from: FIRED - 60 * MINUTE, to: FIRED })!);
  expect(Object.fromEntries(graph.searchParams)).toMatchObject({
    ...{ 'g0.expr': 'up==0', 'g0.range_input': '60m', 'g0.end_input': '2026-11-21 03:05:30' },
  });
  expect(graphHref('https://grafana.example/alerting/1', { from: 0, to: 1 })).toBeNull();
});
test('links that are not web addresses are text, and none appears twice', () => {
  const links = [
    { kind: 'silence', url: 'http://am/#/x', text: 'am' },
    { kind: 'silence', url: 'http://am/#/x', text: 'am' },
    { kind: 'runbook', url: null, text: 'javascript:alert(1)' },
  ] as const;
  const ways = waysOut(incident('A', { links: [...links] }), FIRED);
  expect(ways.map(({ kind, href }) => [kind, href])).toEqual([
    ['runbook', null],
    ['silence', 'http://am/#/x'],
  ]);
});
test('names are text in the Markdown, and the link comes last', () => {
  const text = reportOf({
    ...{
      incident: incident('a*b<img>'),
      state: 'firing',
      now: FIRED + 90 * MINUTE,
      sentences: ['One append.'],
    },
    ...{
      suspects: [{ id: '5184430069070270604', text: 'the commit' }],
      steps: ['Stop it.'],
      link: 'https://l/alerts/1',
    },
  });
  expect(text).toContain('**a\\*b\\<img\\>** on **lake.sales.orders**: critical, firing for 1 h 30 m');
  expect(text).toContain('- the commit `5184430069070270604`');
  expect(text.trimEnd().endsWith('https://l/alerts/1')).toBe(true);
});

test('the report of an alert with a finding has its verdict, evidence, state and commit', () => {
  const story = findingStory(finding(), FIRED + 90 * MINUTE);
  const text = reportOf({
    ...{ incident: incident(), state: 'resolved', now: FIRED + 90 * MINUTE, steps: [], link: 'https://l/a' },
    ...story,
  });
  for (const part of [
    'Data files rose from 120 to 1,620 at once.',
    'demo_burst added 1,500 files',
    'churn takes 3.1× as long (2.6 to 3.7)',
    'Open for ',
    `- the commit \`${SNAPSHOT}\``,
    '- Files added: 1,500',
  ])
    expect(text).toContain(part);
});

const book = (name: string) =>
  readFileSync(new URL(`../../../../docs/runbooks/${name}.md`, import.meta.url), 'utf8');

test('without statements of the server, placeholders are marked as examples', () => {
  const skew = stepsOf(book('lakehouse-partition-skew'));
  const examples = skew.filter(({ code }) => code?.includes('<column>'));
  expect(examples.length).toBe(2);
  for (const { note } of examples) expect(note).toMatch(/^Example: replace .*<column>/);
});
