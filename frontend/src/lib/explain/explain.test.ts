import { describe, expect, test } from 'vitest';
import { casesOf, namedIn, outcomeOf, type ChangeBounds, type Change, type Page } from './case.ts';
import { barsOf } from './differences.ts';
import { BURST, competing, explainPage, label, quiet } from './fixtures.ts';
import { isSame, questionOf } from './question.ts';
import { explanationSummary } from './summary.ts';
import { competingLines, movedSignals } from './competing.ts';
import { boundsWords, effectWords, lastRunWords, linkWords, pastWords, verdict } from './words.ts';

const first = (page: Page, labels = page.labels) => casesOf(page, labels)[0]!;
const sentence = (page: Page, labels = page.labels) => verdict(page, first(page, labels));

describe('the verdict', () => {
  test('names the commit of the slowdown first, by what it did, and not the one that mended it', () => {
    const page = explainPage();
    expect(sentence(page)).toBe('Most likely: 50,000 files of 0.9 MB in one append at 03:04:12.');
    expect(effectWords(page, first(page).change)).toContain('from 52 s to 159 s (3.0×) at 03:05:00');
  });
  test('says how long the change lasted, where a later one took it back', () => {
    const page = explainPage();
    const { change } = first(page);
    const back = { ...change, kind: 'drop', effect_ratio: 1 / change.effect_ratio } as const;
    const told = (onset: number) =>
      effectWords(
        { ...page, explanation: { ...page.explanation, changes: [change, { ...back, onset }] } },
        change,
      );
    expect(told(change.onset + 60_000)).toContain('it lasted until 03:06:00.');
    expect(told(change.onset - 60_000)).toContain('it persists.');
  });
  test('says of a pulse for how many runs, here and in the summary, and of what lasts nothing', () => {
    const told = (change: Partial<Change>) => {
      const page = explainPage();
      Object.assign(page.explanation.changes[0]!, change);
      return [effectWords(page, first(page).change), explanationSummary(page, [], 'x')];
    };
    for (const text of told({ kind: 'pulse', runs: 4 }))
      expect(text).toContain('at 03:05:00 for 4 runs; it was temporary.');
    for (const text of told({ kind: 'pulse', runs: 1 })) expect(text).toContain('at 03:05:00 for 1 run; it');
    for (const kind of ['step', 'ramp', 'drop'] as const)
      for (const text of told({ kind, runs: 4 })) expect(text).not.toMatch(/ for [14] runs?/);
  });
  test('says "caused" only after a user confirmed it', () => {
    const page = explainPage();
    const all = (labels = page.labels) =>
      [
        sentence(page, labels),
        linkWords(first(page, labels).best),
        explanationSummary(page, labels, 'x'),
      ].join();
    expect(all()).not.toMatch(/caused?/i);
    expect(sentence(page, [label()])).toBe('Caused by 50,000 files of 0.9 MB in one append at 03:04:12.');
    expect(linkWords(first(page, [label()]).best)).toBe('caused it');
  });
  test('what a user ruled out is not named, and shares are of the rest', () => {
    const ruled = first(explainPage(), [label({ kind: 'rejected' })]);
    expect([namedIn(ruled), ruled.confidence, ruled.ruledOut]).toEqual([null, 'none', 1]);
    expect(
      ruled.hypotheses.map(({ record, posterior }) => [record.kind, Math.round(posterior * 100)]),
    ).toEqual([
      ['none', 75],
      ['infrastructure', 25],
      ['commit', 0],
    ]);
    expect(sentence(explainPage(), [label({ kind: 'rejected' })])).toBe(
      'No commit explains the slowdown from 52 s to 159 s.',
    );
  });
  test('a confirmed commit is first, however unlikely it seemed', () => {
    const page = explainPage();
    page.explanation.hypotheses = page.explanation.hypotheses.map((each) =>
      each.change === 0 ? { ...each, posterior: each.kind === 'none' ? 0.9 : 0.05 } : each,
    );
    expect(namedIn(first(page))).toBeNull();
    expect(namedIn(first(page, [label()]))?.record.commit_id).toBe(BURST);
  });
});

describe('outcomes', () => {
  test.each([
    ['no-job', quiet('No job is known for this table', { tables: [], runs: 0 })],
    ['too-little', quiet('Not enough data', { runs: 6 })],
    ['no-change', quiet('No change')],
    ['explained', explainPage()],
  ] as const)('%s', (outcome, page) => expect(outcomeOf(page)).toBe(outcome));
});

test('past commits of the same kind and what followed them', () => {
  expect(pastWords(first(explainPage()).best)).toBe(
    '3 other appends by the same writer in the days before: 2 were followed by a change in this job.',
  );
});

test('shows the bounds of a change, too few runs, and what else changed', () => {
  const [slower, faster] = casesOf(explainPage());
  expect(boundsWords(slower!.change, slower!.around)).toBe('+107 s (95 %: +105 to +109 s)');
  expect(boundsWords(faster!.change, faster!.around)).toBe(
    '−107 s, without bounds: 4 runs after; at least 5 are needed',
  );
  expect(competingLines(slower!.around).map(({ words }) => words)).toEqual([
    '16 other jobs compared: 1 changed the same way by 10 % or more; median 1.00×.',
    'Unknown: job load, CPU, spill to disk, executors.',
  ]);
  expect(explanationSummary(explainPage(), [], 'x')).toContain('16 other jobs compared');
});

const AT = Date.parse('2026-11-21T03:01:00Z');
const AROUND: ChangeBounds = {
  ...{ runs_before: 9, runs_after: 9, low_seconds: null, high_seconds: null, unbounded_because: null },
  competing: [
    competing('load', { ratio: 1.02 }),
    competing('cpu', { before: 0.31, after: 0.312, ratio: 1.006, unit: 'cores' }),
    competing('spill', { moved: 1, before: 0, after: 5e9, ratio: null, unit: 'bytes', at: AT }),
    competing('executors', { moved: 1, before: 8, after: 4, ratio: 0.5, unit: 'executors', at: AT }),
  ],
};

test('what the job used: what moved with its instant and lane, what is flat, what is not known and why', () => {
  expect(competingLines(AROUND)).toEqual([
    { words: 'Job load: 1.02×.' },
    { words: 'Spill to disk went from 0 B to 5.0 GB at 03:01:00.', lane: 'spill' },
    { words: 'Executors went from 8 to 4 (0.5×) at 03:01:00.', lane: 'executors' },
    { words: 'CPU flat at 0.31 cores.' },
    { words: 'Unknown: other jobs.' },
  ]);
  const failed = competing('cpu', { series: 0, ratio: null, problem: 'no complete response within 5 s' });
  expect(competingLines({ ...AROUND, competing: [failed] })).toEqual([
    { words: 'CPU unknown: no complete response within 5 s.' },
    { words: 'Unknown: other jobs, job load, spill to disk, executors.' },
  ]);
  expect(movedSignals({ ...AROUND, competing: [failed] })).toEqual([]);
});

test('where no commit is named the verdict offers what moved', () => {
  const page = explainPage();
  page.around[0] = AROUND;
  expect(sentence(page)).toMatch(/^Most likely: 50,000 files/);
  expect(sentence(page, [label({ kind: 'rejected' })])).toBe(
    'No commit explains the slowdown from 52 s to 159 s: spill to disk went from 0 B to 5.0 GB at 03:01:00; executors went from 8 to 4 (0.5×) at 03:01:00.',
  );
});

test('from which share on a commit is named, and how sure that is, is what the server says', () => {
  const at = (posterior: number, sure_from: Page['sure_from']) => {
    const page = explainPage({ sure_from });
    page.explanation.hypotheses = page.explanation.hypotheses.map((each) =>
      each.change === 0
        ? { ...each, posterior: each.commit_id === BURST ? posterior : (1 - posterior) / 2 }
        : each,
    );
    const found = first(page);
    return [found.confidence, namedIn(found) !== null];
  };
  const usual = { strong: 0.85, possible: 0.5, weak: 0.2 };
  expect(at(0.9, usual)).toEqual(['strong', true]);
  expect(at(0.45, usual)).toEqual(['weak', false]);
  expect(at(0.45, { ...usual, possible: 0.4 })).toEqual(['possible', true]);
  expect(at(0.1, usual)).toEqual(['none', false]);
});

test('what the server weighed by words that were said is weighed once, and words said since count', () => {
  const page = explainPage({ labels: [label({ kind: 'rejected' })] });
  page.explanation.hypotheses = page.explanation.hypotheses.map((each) =>
    each.change === 0
      ? { ...each, unlabelled: each.posterior, posterior: each.kind === 'commit' ? 0 : each.posterior * 25 }
      : each,
  );
  const shares = (labels = page.labels) =>
    first(page, labels).hypotheses.map(({ record, posterior }) => [record.kind, Math.round(posterior * 100)]);
  expect(shares()).toEqual([
    ['none', 75],
    ['infrastructure', 25],
    ['commit', 0],
  ]);
  expect(shares([])[0]).toEqual(['commit', 96]);
  expect(shares([label()])[0]).toEqual(['commit', 96]);
});

test('similar earlier commits are listed with their labels', () => {
  const page = explainPage();
  page.explanation.hypotheses[1]!.similar = { commits: 3, followed: 1, confirmed: 2, rejected: 0 };
  expect(pastWords(first(page).best)).toContain('Earlier labels: 2 confirmed, 0 ruled out.');
});

test('bars: shares of a whole, numbers against the larger, nothing is said to be nothing', () => {
  expect(explainPage().differences.map(barsOf)).toMatchObject([
    { name: 'Files added per commit', selected: '1,528', baseline: '12', selectedWidth: 1 },
    { name: 'Files: append by backfill_customer_events', selected: '99 %', baselineWidth: 0 },
    { selected: '0.9 MB', baseline: 'none', baselineWidth: 0 },
  ]);
});

test('the summary keeps names as text', () => {
  const page = explainPage();
  page.suspects[0]!.app_name = '[x](http://evil) | <b>';
  expect(explanationSummary(page, [label()], 'https://here/t')).toContain(
    '\\[x\\]\\(http://evil\\) \\| \\<b\\>',
  );
  expect(explanationSummary(page, [label()], 'https://here/t')).toMatch(
    /^\*\*Caused by 50,000 files[^]*https:\/\/here\/t\n$/,
  );
});

test('a live range that moved on a little is still the same question', () => {
  const asked = { from: 0, to: 6 * 3_600_000 };
  expect(isSame(asked, { from: 60_000, to: asked.to + 60_000 })).toBe(true);
  expect(isSame(asked, { from: 3_600_000, to: asked.to })).toBe(false);
  expect(questionOf(asked, 'churn', 'week')).toEqual({ ...asked, job: 'churn', baseline: 'week' });
  expect(questionOf(asked, null, [5, 9])).toEqual({
    ...asked,
    ...{ baseline: 'custom', baseline_from: 5, baseline_to: 9 },
  });
});

describe('no data yet is not no effect', () => {
  const at = (clock: string) => Date.parse(`2026-11-21T${clock}Z`);
  const waits = (more: Partial<NonNullable<Page['pending']>> = {}): Page =>
    quiet("No change of this job's duration stands out.", {
      runs: 256,
      pending: {
        ...{ last_run: at('14:47:00'), running_since: null, commits: 3 },
        ...{ commit_id: '7', committed_at: at('15:01:02') },
        ...more,
      },
    });

  test('the verdict names the commit and the last run, in the panel and in the summary', () => {
    const page = waits();
    expect(outcomeOf(page)).toBe('pending');
    expect(verdict(page, undefined)).toBe(
      'Not known yet: no run of rollup_customer_events started after the commit at 15:01:02 has succeeded.',
    );
    expect(lastRunWords(page)).toMatch(/started at 21 Nov.* 14:47:00, before 3 commits in this range\.$/);
    const summary = explanationSummary(page, [], 'https://x');
    expect(summary).toContain('Not known yet: no run of rollup');
    expect(summary).toContain('14:47:00');
    expect(summary).not.toContain('stands out');
  });

  test('a run in progress is mentioned, and a job without runs has no last one', () => {
    expect(verdict(waits({ running_since: at('15:03:00') }), undefined)).toContain(
      'one started at 15:03:00 is still running',
    );
    const none = waits({ last_run: null, commit_id: null, committed_at: null, commits: 0 });
    expect(verdict(none, undefined)).toContain('started in this range');
    expect(lastRunWords(none)).toMatch(/^No runs known since/);
  });
});
