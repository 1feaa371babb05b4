// What a timeline draws beside its data: flags of refs and of an explanation, the alert of the address, the trail, rule lines.
import '../../../app.css';
import { createRawSnippet } from 'svelte';
import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { Cursor } from '#lib/state/Cursor.svelte.ts';
import { axeFindings } from '../../../test/axe.ts';
import { BURST, BURST_ID, DAY, NOW, story } from '#lib/timeline/fixtures/story.ts';
import type { Answer, Lane } from '#lib/api/lanes.ts';
import Timeline from '#lib/timeline/Timeline.svelte';
import type { EffectNote } from '#lib/ui/verdict.ts';
import { overlayOf } from './explanation-overlay.ts';
import { signsOf } from './signs.ts';

const HOUR = 3_600_000;
// no header above, as the page has: the sticky row has nothing to stay clear of
for (const bar of ['--bar-h', '--tool-h']) document.documentElement.style.setProperty(bar, '0px');

function changed(id: string, change: object): Answer {
  const answer = story();
  const lanes = answer.lanes.map((lane) => (lane.id === id ? ({ ...lane, ...change } as Lane) : lane));
  return { ...answer, lanes };
}

async function show(answer: Answer, more: object = {}) {
  const cursor = new Cursor();
  const compared: (number | undefined)[] = [];
  const nothing = () => undefined;
  const screen = await render(Timeline, {
    ...{ answer, cursor, span: { from: DAY, to: NOW, step: 30 }, now: NOW },
    ...{ onrange: nothing, onback: nothing, oncommit: nothing, onretry: nothing },
    oncompare: (seconds?: number) => compared.push(seconds),
    ...more,
  });
  await expect.element(screen.getByRole('slider', { name: 'Time cursor' })).toBeVisible();
  return { screen, cursor, compared };
}
const find = (selector: string) => document.querySelector(selector);

test('a ref that moved is a flag, in words in the summary and in the legend', async () => {
  const flags = [{ t: BURST + HOUR, ref: 'audit', type: 'branch', snapshot_id: '1' }];
  const { screen } = await show(changed('commits', { flags }));
  expect(find('[data-lane=commits] .flag title')?.textContent).toBe('branch audit set at 04:04:12');
  await expect.element(screen.getByRole('img', { name: /branch audit set at 04:04:12/ })).toBeVisible();
  await expect.element(screen.getByText('ref moved')).toBeVisible();
  expect(await axeFindings(find('[data-lane=commits]') as Element)).toEqual([]);
});

test('spans whose manifests wait for an idle pipeline are hatched, in words in the legend', async () => {
  expect(signsOf(story(), null).some(({ look }) => look === 'unread')).toBe(false);
  const unread = [[DAY, DAY + HOUR]];
  const { screen } = await show(changed('file_size', { unread }));
  const rest = Number(find('[data-lane=data_files] .unread')?.getAttribute('width')?.replace('px', ''));
  const [first] = [...document.querySelectorAll('[data-lane=file_size] .unread')];
  expect(Number(first?.getAttribute('width')?.replace('px', ''))).toBeGreaterThan(rest);
  await expect
    .element(screen.getByText('not read 00:00 to 01:00: follows when the pipeline is idle'))
    .toBeVisible();
});

test('a chosen ref says which commits are hollow, main no longer', async () => {
  await show(changed('commits', { off_ref: [BURST_ID] }), { noted: BURST_ID });
  const hollow = [...document.querySelectorAll('.mark.hollow')];
  expect(hollow.map((mark) => mark.getAttribute('data-id'))).toEqual([BURST_ID]);
  expect(hollow[0]?.getAttribute('aria-label')).toMatch(/not on the chosen ref$/);
});

test('an explanation flags where its job changed and shades what was expected; without one there is neither', async () => {
  const answer = story();
  const job = answer.lanes.find(({ id }) => id === 'job_duration')?.label ?? '';
  const explanation = overlayOf(
    job,
    [{ onset: BURST + 48_000, effect_ratio: 3.05, after_seconds: 159 }],
    answer,
  );
  const { screen } = await show(answer, { explanation });
  await expect.poll(() => find('[data-lane=job_duration] [data-flag="3.0×"]')).not.toBeNull();
  expect(Number(find('[data-lane=job_duration] .expected')?.getAttribute('height'))).toBeGreaterThan(0);
  await expect
    .element(
      screen.getByRole('img', {
        name: /^Job duration.*3\.0× as long from 03:05:00\. Expected: \d+ s to \d+ s\./,
      }),
    )
    .toBeVisible();
  await screen.rerender({ explanation: null });
  expect(find('.expected, [data-flag]')).toBeNull();
});

test('the median run is a thin line with its own gaps, named in the gutter and the legend', async () => {
  const { t } = story();
  const median = t.map((at) => (at < DAY + HOUR ? null : 54));
  const { screen } = await show(changed('job_duration', { median }));
  const line = find('[data-lane=job_duration] path.median') as SVGPathElement;
  expect(line.getAttribute('d')?.match(/M/g)).toHaveLength(1);
  expect(line.getBBox().x).toBeGreaterThan(100);
  expect(getComputedStyle(line).strokeWidth).toBe('1px');
  expect(find('[data-lane=job_duration] .change')?.textContent).toBe('median 54 s');
  await expect.element(screen.getByText('thin: median run')).toBeVisible();
  await screen.rerender({ answer: story() });
  expect(find('path.median')).toBeNull();
});

test('the alert of the address is marked among the others', async () => {
  const bar = (label: string, start: number) => ({
    label,
    start,
    end: start + HOUR,
    state: 'resolved',
    detail: null,
  });
  const bars = [bar('FileBurst', DAY + HOUR), bar('FileBurst', BURST)];
  await show(changed('alerts', { status: 'ok', bars }), { alert: { label: 'FileBurst', start: BURST } });
  const marked = document.querySelectorAll('[data-lane=alerts] .subject');
  expect(marked).toHaveLength(1);
  const drawn = [...document.querySelectorAll('[data-lane=alerts] .alert')].at(-1);
  expect(Number(marked[0]?.getAttribute('x'))).toBeCloseTo(Number(drawn?.getAttribute('x')) - 2);
});

test('a limit near the data is a rule line; one far above is noted at the edge and leaves the axis alone', async () => {
  const { screen } = await show(changed('freshness', { target: 1_800 }));
  const rule = () => find('[data-lane=freshness] .rule');
  expect(Number(rule()?.getAttribute('y1'))).toBeGreaterThan(0);
  await expect.element(screen.getByText('stale after 30 m')).toBeInTheDocument();
  await screen.rerender({ answer: changed('freshness', { target: 86_400 }) });
  expect(Number(rule()?.getAttribute('y1'))).toBeLessThan(0);
  await expect.element(screen.getByText('stale after 1 d ↑')).toBeInTheDocument();
  await screen.rerender({ answer: changed('freshness', { target: 900, objective: true }) });
  await expect.element(screen.getByText('objective 15 m')).toBeInTheDocument();
  await screen.rerender({ answer: changed('freshness', { target: null }) });
  expect(rule()).toBeNull();
});

test('the period just before a selection is compared, as long as it', async () => {
  const { screen, cursor, compared } = await show(story());
  cursor.selection = [BURST, BURST + HOUR / 2];
  await screen.getByRole('button', { name: 'Compare with previous' }).click();
  expect(compared).toEqual([1_800]);
});

test('the trail names the ranges that were zoomed into and leads back', async () => {
  const places: number[] = [];
  const { screen } = await show(story(), {
    trail: [24 * HOUR, 12 * HOUR],
    ontrail: (at: number) => places.push(at),
  });
  const trail = screen.getByRole('navigation', { name: 'Zoom' });
  await expect.element(trail).toMatchTextContent(/1 d\s*12 h\s*6 h/);
  await trail.getByRole('button', { name: '12 h' }).click();
  await trail.getByRole('button', { name: 'Reset zoom' }).click();
  expect(places).toEqual([1, 0]);
  expect(await axeFindings(trail.element())).toEqual([]);
  await expect.element(trail.getByRole('button', { name: /^All history/ })).not.toBeInTheDocument();
});

test('the trail begins with all that is known, once that is known and wider than what is in it', async () => {
  const ranges: number[][] = [];
  const { screen } = await show(story(), {
    ...{ trail: [12 * HOUR], ontrail: () => undefined, overview: story({ from: NOW - 24 * HOUR }) },
    onrange: (from: number, to: number) => ranges.push([from, to]),
  });
  const trail = screen.getByRole('navigation', { name: 'Zoom' });
  await expect.element(trail).toMatchTextContent(/all\s*12 h\s*6 h/);
  await trail.getByRole('button', { name: /^All history, / }).click();
  expect(ranges).toEqual([[expect.any(Number), NOW]]);
  expect(ranges[0]?.[0]).toBeLessThan(NOW - 23 * HOUR);
  expect(await axeFindings(trail.element())).toEqual([]);
  await screen.rerender({ trail: [30 * HOUR] });
  await expect.element(trail).toMatchTextContent(/^Zoom\s*1 d 6 h\s*6 h/);
});

test('a lane viewed as a table is below the lanes, alone, and has the focus', async () => {
  let tabulate = () => {};
  const menu = createRawSnippet((lane: () => Lane, show: () => () => void) => {
    if (lane().id === 'commits') tabulate = show();
    return { render: () => '<button type="button">more</button>' };
  });
  const { screen } = await show(story(), { menu });
  tabulate();
  const table = screen.getByRole('region', { name: 'Commits as table' });
  await expect.element(table.getByRole('row', { name: new RegExp(BURST_ID) })).toBeVisible();
  expect(document.activeElement?.contains(table.element())).toBe(true);
  await screen.getByRole('button', { name: 'View as table' }).click();
  await expect.element(table).not.toBeInTheDocument();
});

test('a verdict on a commit is a shape above its mark, with a sentence on its button and a word in the legend', async () => {
  const sentence = 'This compaction made churn 14 % faster (8 to 19 %).';
  const expiry = 'This snapshot expiry made no measurable change to churn, within ±5 %.';
  const effects: EffectNote[] = [
    { id: BURST_ID, at: BURST, commit: true, verdict: 'helped', sentence },
    { id: 'expired:m.json', at: BURST + HOUR, commit: false, verdict: 'none', sentence: expiry },
    { id: 'elsewhere', at: BURST, commit: true, verdict: 'worse', sentence: 'of a commit that is not drawn' },
  ];
  const { screen } = await show(story(), { effects });
  await expect.element(screen.getByRole('img', { name: expiry })).toBeVisible();
  expect(
    [...document.querySelectorAll('[data-verdict]')].map((each) => each.getAttribute('data-verdict')),
  ).toEqual(['helped', 'none']);
  const mark = find(`[data-id="${BURST_ID}"]`);
  expect(mark?.getAttribute('title')).toContain(sentence);
  expect(mark?.getAttribute('aria-label')).toContain(`. ${sentence}`);
  await expect.element(screen.getByText('jobs faster')).toBeVisible();
  expect(await axeFindings(find('[data-lane=commits]') ?? undefined)).toEqual([]);
});
