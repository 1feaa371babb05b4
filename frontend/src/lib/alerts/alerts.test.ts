import { expect, test } from 'vitest';
import { byTable, firstOfEach, stripBars, stripText } from './groups.ts';
import { incidentHref, isDated, labelsOf, narrowTo } from './link.ts';
import { alertsHref, alertsQuestion, choiceOf } from './question.ts';
import { finding, recovered } from '#lib/findings/fixtures.ts';
import { causeState, episodeLook, firesAt, lookOf, refOf, stateText } from './words.ts';

const NOW = Date.UTC(2026, 10, 21, 6);

test('what fires stands out by its severity, what is over is calm', () => {
  expect(lookOf('critical', 'firing')).toMatchObject({ tone: 'crit', word: 'Critical' });
  expect(lookOf('page', 'firing').tone).toBe('crit');
  expect(lookOf('team-x', 'firing')).toMatchObject({ tone: 'warn', word: 'Team-x' });
  expect(lookOf(null, 'firing')).toMatchObject({ tone: 'warn', word: 'Alert' });
  expect(lookOf('critical', 'resolved').tone).toBe('ok');
});
test('an alert that is over is not calm while its cause is there (M14)', () => {
  expect(episodeLook('warning', 'resolved', finding())).toMatchObject({ tone: 'crit', word: 'Critical' });
  expect(causeState('resolved', finding())).toBe('the cause is still there');
  expect(episodeLook('warning', 'resolved', recovered()).tone).toBe('ok');
  expect(causeState('resolved', recovered())).toBeNull();
  expect(episodeLook('warning', 'firing', recovered()).tone).toBe('warn');
  expect(causeState('firing', recovered())).toBe('the cause is gone');
  expect(episodeLook('warning', 'resolved', null).tone).toBe('ok');
  expect(causeState('firing', null)).toBeNull();
});
test('how long it fires or fired; an end that is not known is not made up', () => {
  const alert = { starts_at: NOW - 3_600_000, ends_at: null, heard_at: null };
  expect(stateText(alert, 'firing', NOW)).toBe('firing for 1 h');
  expect(stateText({ ...alert, ends_at: NOW - 1_800_000 }, 'resolved', NOW)).toBe('resolved, fired for 30 m');
  expect(stateText(alert, 'resolved', NOW)).toBe('resolved');
  expect(stateText({ ...alert, starts_at: NOW + 5_000 }, 'firing', NOW)).toBe('firing for 0 s');
  expect(stateText({ ...alert, heard_at: NOW - 7_200_000 }, 'unknown', NOW)).toBe(
    'end unknown, last update 2 h ago',
  );
  expect(stateText(alert, 'unknown', NOW)).toBe('state unknown');
});
test('a table with an unknown level has no page', () => {
  expect(refOf({ catalog: 'lake', table_namespace: null, table: 'x' })).toBeNull();
  expect(refOf(null)).toBeNull();
});
test('another filter begins at the first page, and what others put into the address stays', () => {
  const params = new URLSearchParams('state=firing&cursor=x&tz=UTC');
  expect(alertsHref(params, { q: 'carts' })).toBe('/alerts?state=firing&tz=UTC&q=carts');
  expect(alertsHref(params, { state: 'any' })).toBe('/alerts?tz=UTC');
  expect(alertsHref(new URLSearchParams('state=firing'), { state: 'any' })).toBe('/alerts');
  expect(alertsQuestion(choiceOf(new URLSearchParams('state=odd&q=a')))).toEqual({ limit: 100, q: 'a' });
});
test('a link is narrowed to one table, in our words for its levels', () => {
  const link = new URLSearchParams('alertname=A&namespace=s&table_name=t&fp=1');
  const to = narrowTo(link, { catalog: 'lake', table_namespace: 'sales', table: 'orders' });
  expect(to).toBe('/alerts/resolve?alertname=A&fp=1&catalog=lake&table_namespace=sales&table=orders');
  expect(labelsOf(link).map(([name]) => name)).toEqual(['alertname', 'namespace', 'table_name']);
  expect([isDated(link), isDated(new URLSearchParams('startsAt=1'))]).toEqual([false, true]);
});
test('a bar leads to its own episode', () => {
  const bar = { start: 5, end: null, label: 'A&B', state: 'firing', detail: null, severity: null };
  expect(incidentHref({ catalog: 'lake', namespace: 'sales', table: 'orders' }, bar)).toBe(
    '/alerts/resolve?alertname=A%26B&catalog=lake&table_namespace=sales&table=orders&startsAt=5',
  );
});

const DAY = 86_400_000;
const row = (fingerprint: string, table: string, starts_at: number) =>
  ({
    ...{ fingerprint, starts_at, state: 'firing', table: { catalog: 'lake', table_namespace: 's', table } },
  }) as unknown as Parameters<typeof byTable>[0][number];

test('rows of one table are grouped, in the order of their first row; an alert has one strip', () => {
  const rows = [row('1', 'b', 9), row('2', 'a', 8), row('1', 'b', 7), row('3', 'b', 6)];
  expect(byTable(rows).map(({ key, rows: { length } }) => [key, length])).toEqual([
    ['lake / s / b', 3],
    ['lake / s / a', 1],
  ]);
  expect([...firstOfEach(rows)].map(({ starts_at }) => starts_at).sort()).toEqual([6, 8, 9]);
});
test('a week is drawn to now: what is older is cut, what is short stays visible', () => {
  const spans = [
    { from: NOW - 9 * DAY, to: NOW - 8 * DAY },
    { from: NOW - 8 * DAY, to: NOW - 6 * DAY },
    { from: NOW - 60_000, to: null },
  ];
  const [cut, short, ...more] = stripBars(spans, NOW);
  expect([cut?.left, cut?.width]).toEqual([0, expect.closeTo(1 / 7)]);
  expect([short!.left + short!.width, short!.width]).toEqual([expect.closeTo(1), 0.012]);
  expect(more).toEqual([]);
  expect(stripText(spans, NOW)).toBe('fired 2 times in 7 days, 1 d in total');
  expect(stripText(spans.slice(0, 1), NOW)).toBe('did not fire in 7 days');
});

test('an alert fires from its start to its end, as far as both are known', () => {
  const over = { starts_at: NOW - 60_000, ends_at: NOW, heard_at: null };
  const at = [NOW - 62_000, NOW - 60_500, NOW - 30_000, NOW + 500, NOW + 2_000];
  expect(at.map((instant) => firesAt(over, instant))).toEqual([false, true, true, true, false]);
  expect(firesAt({ ...over, ends_at: null }, NOW + 3_600_000)).toBe(true);
  expect(firesAt({ ...over, ends_at: null, heard_at: NOW }, NOW + 3_600_000)).toBe(false);
});
