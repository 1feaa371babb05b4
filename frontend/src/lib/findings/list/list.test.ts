import { expect, test } from 'vitest';
import { markdownText } from '#lib/format/markdown.ts';
import type { FindingCode } from '#lib/findings/words.ts';
import { evidenceRows } from '#lib/findings/evidence.ts';
import { findingsCsv } from './export.ts';
import { finding, NOW, OPENED, recovered, SNAPSHOT } from '#lib/findings/fixtures.ts';
import {
  ANY,
  choiceOf,
  cursorHref,
  findingsHref,
  findingsQuestion,
  isNarrowed,
  unreadOf,
} from './question.ts';
import { findingSummary } from '#lib/findings/page/summary.ts';
import { changesOf } from '#lib/findings/page/transitions.ts';
import { closingCommit } from '#lib/findings/words.ts';

const params = (text: string) => new URLSearchParams(text);

test('the address and the choice are the same, defaults stay out, and a change starts at the first page', () => {
  expect(choiceOf(params('state=closed&severity=warning&code=stale&table=a.b.c'))).toEqual({
    ...{ state: 'closed', severity: 'warning', code: 'stale', table: 'a.b.c', owner: '', acknowledged: '' },
  });
  expect(choiceOf(params('owner=core&acknowledged=true'))).toMatchObject({
    ...{ owner: 'core', acknowledged: 'true' },
  });
  expect(choiceOf(params('state=x&severity=x&code=x'))).toEqual({ ...ANY, state: 'open' });
  expect(findingsHref(params('cursor=9&tz=UTC&state=closed'), { severity: 'info', state: 'open' })).toBe(
    '/findings?tz=UTC&severity=info',
  );
  expect(findingsHref(params(''), {})).toBe('/findings');
  expect(cursorHref(params('code=stale'), 'abc')).toBe('/findings?code=stale&cursor=abc');
  expect(cursorHref(params('cursor=abc'), null)).toBe('/findings');
  expect(unreadOf(params('state=x&severity=warning&code=nope&acknowledged=1'))).toEqual([
    ...['state', 'code', 'acknowledged'],
  ]);
  expect(isNarrowed(choiceOf(params('state=closed')))).toBe(false);
});

test('the request carries what is chosen', () =>
  expect(findingsQuestion(choiceOf(params('table=a.b.c')), 'x')).toEqual({
    ...{ limit: 50, state: 'open', table: 'a.b.c', cursor: 'x' },
  }));

test('the request names the owner, and whether acknowledged findings are wanted', () =>
  expect(findingsQuestion(choiceOf(params('owner=core&acknowledged=any')), null)).toEqual({
    ...{ limit: 50, state: 'open', owner: 'core', acknowledged: 'any' },
  }));

test('evidence has labels and units, unknown names are spelled out, texts stay texts', () => {
  const values = { from: '0', usual_gap_seconds: 300, bytes: 3_000_000, files: 1500, new_measure: 3 };
  expect(
    evidenceRows({ code: 'file_burst', evidence: values }).map(({ label, value }) => `${label}: ${value}`),
  ).toEqual([
    ...['From: 0', 'Files added: 1,500', 'Bytes added: 3.0 MB'],
    ...['Usual time between runs: 5 m', 'New measure: 3'],
  ]);
  expect(evidenceRows({ code: 'stale', evidence: { usual_seconds: 300 } })[0]?.label).toBe(
    'Usual time between commits',
  );
});

test('the threshold has the unit of what it limits', () => {
  const shown = (code: FindingCode, evidence: Record<string, number>) =>
    evidenceRows({ code, evidence }).map(({ label, value }) => `${label}: ${value}`);
  expect(shown('small_files', { threshold: 19 })).toEqual(['Threshold: 19']);
  expect(shown('metadata_large', { threshold: 5_000_000 })).toEqual(['Threshold: 5.0 MB']);
  expect(shown('partition_skew', { threshold: 10 })).toEqual(['Threshold: 10×']);
  expect(shown('hot_partition', { peak: 14.2 })).toEqual(['Highest value: 14×']);
  expect(shown('stale', { threshold_seconds: 3600 })).toEqual(['Threshold: 1 h']);
  expect(shown('compaction_ineffective', { threshold_share: 0.1 })).toEqual(['Threshold: 10 %']);
});

test('a row of the export has each value and the sentences; a name is no formula', () => {
  const [head, row] = findingsCsv([finding({ table: '=1+1' })], NOW)
    .trim()
    .split('\r\n');
  expect(head).toMatch(/^finding_id,severity,.*,headline,effect$/);
  expect(row).toContain(",'=1+1,");
  expect(row).toContain(`,${SNAPSHOT},`);
  expect(row).toContain('2026-11-21T02:08:42Z');
});

test('the summary has verdict, state, cause, effect, evidence and link, with zones', () => {
  const text = findingSummary(finding(), [], 'https://x/findings/f', NOW);
  expect(text.split('\n')).toEqual([
    '**Critical: Data files rose from 120 to 1,620 at once**',
    '',
    '- Table: lake.sales.orders (file burst)',
    '- State: Open for 3 h 51 m, since 02:08 UTC',
    '- Opened: 21 Nov 2026, 02:08:42 UTC',
    `- Cause: demo_burst added 1,500 files, 2 kB on average, at 02:08:42 UTC (commit \`${SNAPSHOT}\`)`,
    '- Effect: churn takes 3.1× as long (2.6 to 3.7), 108 s more per run',
    ...['- Files added: 1,500', '- Bytes added: 3.0 MB', '- Data files before: 120'],
    ...['- Of those, removed since: 0', '- Data files: 1,620'],
    '- Next: Compact the new files, and check how the writer distributes its rows',
    ...['', 'https://x/findings/f', ''],
  ]);
  expect(findingSummary(recovered(), [], 'l', NOW)).toContain('**Recovered: ');
});

test.each<[string, string]>([
  ['demo_burst (3.1×)', 'demo_burst (3.1×)'],
  ['[a](http://evil.example)', '\\[a\\](http:\u2060//evil.example)'],
  ['www.evil.example', 'www\u2060.evil.example'],
  ['@channel #1', '@\u2060channel #\u20601'],
  ['<!here> **x** `y` _z_ ~~s~~', '\\<!here\\> \\*\\*x\\*\\* \\`y\\` \\_z\\_ \\~\\~s\\~\\~'],
  ['a\nb\u202Egnp | c', 'a bgnp \\| c'],
])('%j stays text in Markdown', (text, written) => expect(markdownText(text)).toBe(written));

test('the history says what changed with each transition, the newest first', () => {
  const open = { at: OPENED, state: 'open', severity: 'warning', closed_by: null, evidence: {} } as const;
  const closed = { ...open, at: NOW, seq: 3, state: 'closed', closed_by: '42' } as const;
  const history = [
    { ...open, seq: 0 },
    { ...open, seq: 1, severity: 'critical' as const },
    { ...open, seq: 2, severity: 'critical' as const },
    closed,
  ];
  expect(changesOf(finding(), history).map(({ text }) => text)).toEqual([
    'Recovered by snapshot 42',
    'The effect on jobs or the evidence changed',
    'Severity changed from warning to critical',
    'Opened as warning',
  ]);
  expect(changesOf(finding(), [closed, { ...open, seq: 4 }])[0]?.text).toBe('Opened again as warning');
});

test('only a commit is a commit', () => {
  expect(closingCommit(recovered())).toBe('378142004021992640');
  expect(closingCommit(recovered({ closed_by: 'expired' }))).toBeNull();
  expect(closingCommit(recovered({ group: 'jobs', closed_by: '17' }))).toBeNull();
  expect(closingCommit(recovered({ group: 'jobs', code: 'objective_missed', closed_by: '17' }))).toBe('17');
  expect(closingCommit(finding())).toBeNull();
});
