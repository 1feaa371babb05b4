import { describe, expect, test } from 'vitest';
import { absolute, parseBound, parseInstant, resolveRange } from './range.ts';
import { MAX_POINTS, STEPS, chooseStep, snapSpan, snapTo } from './step.ts';
import { historyMove, readUrl, writeUrl, type TimelineUrl } from './url.ts';
import { setUsualRange } from './usual.ts';

const NOW = Date.UTC(2026, 10, 21, 6, 0, 30);
const at = (text: string) => Date.parse(`2026-11-${text}Z`);

describe('range', () => {
  test.each([
    ['now-6h', 'now', at('21T00:00:30'), NOW],
    ['now/d', 'now/d', at('21T00:00:00'), at('22T00:00:00')],
    ['now-1d/d', 'now-1d/d', at('20T00:00:00'), at('21T00:00:00')],
    ['now/w', 'now', at('16T00:00:00'), NOW],
    ['1795230252000', '1795233852000', at('21T03:04:12'), at('21T04:04:12')],
    ['1795230252', 'now', at('21T03:04:12'), NOW],
    ['2026-11-21T03:04:12Z', '2026-11-21T05:34:12+01:00', at('21T03:04:12'), at('21T04:34:12')],
    ['2026-11-21 03:04', '2026-11-21T04:04:00', at('21T03:04:00'), at('21T04:04:00')],
    ['2026-11-20', '2026-11-21', at('20T00:00:00'), at('21T00:00:00')],
  ])('%s to %s', (from, to, start, end) => {
    const range = resolveRange({ from, to }, NOW);
    expect([range?.from, range?.to]).toEqual([start, end]);
  });
  test.each([
    '',
    'yesterday',
    'now-',
    'now-6',
    'now-6y',
    '21/11/2026',
    '2026-13-01',
    '-5',
    '99999999999999999',
  ])('%j is no bound', (text) => expect(parseBound(text)).toBeNull());
  test('an empty or reversed range is refused', () => {
    expect(resolveRange({ from: 'now', to: 'now-1h' }, NOW)).toBeNull();
    expect(resolveRange({ from: 'now', to: 'now' }, NOW)).toBeNull();
  });
  test('two instants as text are read again', () => {
    const text = absolute(at('21T00:00:00'), at('21T06:00:00'));
    expect(resolveRange(text, NOW)).toEqual({
      from: at('21T00:00:00'),
      to: at('21T06:00:00'),
      relative: false,
    });
  });
  test('a time without zone is UTC', () => expect(parseInstant('2026-11-21T03:04')).toBe(at('21T03:04:00')));
});

describe('step', () => {
  test('equals the choice of the server', () => {
    const hour = 3_600_000;
    expect([1, 3, 6, 24, 168].map((hours) => chooseStep(hours * hour))).toEqual([5, 15, 30, 120, 900]);
  });
  test('both ends lie on the step, and points stay within the limit', () => {
    for (const width of [61_000, 7_777_777, 86_400_000, 31 * 86_400_000, 400 * 86_400_000]) {
      const span = snapSpan(NOW - width, NOW);
      expect([span.from % (span.step * 1000), span.to % (span.step * 1000)]).toEqual([0, 0]);
      expect(span.from).toBeLessThanOrEqual(NOW - width);
      expect(span.to).toBeGreaterThanOrEqual(NOW);
      expect((span.to - span.from) / span.step / 1000).toBeLessThanOrEqual(MAX_POINTS);
      expect(STEPS).toContain(span.step);
    }
  });
  test('a window narrower than a minute is widened', () => {
    const span = snapSpan(NOW, NOW + 1000);
    expect(span.to - span.from).toBeGreaterThanOrEqual(60_000);
  });
  test('snapping takes the nearest step', () =>
    expect(snapTo(at('21T03:35:59'), 60)).toBe(at('21T03:36:00')));
});

describe('url', () => {
  const plain: TimelineUrl = {
    range: { from: 'now-24h', to: 'now' },
    at: null,
    pin: null,
    marks: [],
    sel: null,
    commit: null,
    lanes: null,
    log: null,
    job: null,
    cmp: null,
    panel: null,
    base: 'before',
    ref: null,
    alert: null,
    live: true,
  };
  const full: TimelineUrl = {
    range: { from: 'now-6h', to: 'now' },
    at: at('21T03:20:00'),
    pin: at('21T02:40:00'),
    marks: [at('21T03:04:00'), at('21T03:15:30')],
    sel: [at('21T03:00:00'), at('21T03:30:00')],
    commit: '5184430069070270604',
    lanes: ['data_files', 'commits'],
    log: ['data_files'],
    job: 'churn & co',
    cmp: 86_400,
    panel: 'explain',
    base: [at('20T03:00:00'), at('20T03:30:00')],
    ref: 'audit branch',
    alert: '0123456789abcdef',
    live: false,
  };
  test('defaults are omitted', () => expect(writeUrl(plain, new URLSearchParams())).toBe(''));
  test('what is written is read again, every digit of the id', () => {
    const text = writeUrl(full, new URLSearchParams());
    expect(readUrl(new URLSearchParams(text), NOW)).toEqual({ state: full, unread: [] });
    expect(text).toContain('c=5184430069070270604');
  });
  test('a range that the reader prefers stays out of the address, and the usual one no longer does', () => {
    setUsualRange({ from: 'now-6h', to: 'now' });
    const preferred = { ...plain, range: { from: 'now-6h', to: 'now' } };
    expect(readUrl(new URLSearchParams(), NOW).state).toEqual(preferred);
    expect(writeUrl(preferred, new URLSearchParams())).toBe('');
    expect(writeUrl(plain, new URLSearchParams())).toBe('?from=now-24h');
    setUsualRange(plain.range);
  });
  test('parameters of others stay', () => {
    expect(writeUrl(plain, new URLSearchParams('tz=browser&at=1795230252000'))).toBe('?tz=browser');
  });
  test('an unreadable value becomes the default and is named', () => {
    const read = readUrl(
      new URLSearchParams(
        'from=soon&at=x&sel=5..1&c=12ab&lanes=A!&cmp=soon&panel=all&base=never&alert=a/b&live=no',
      ),
      NOW,
    );
    expect(read.state).toEqual(plain);
    expect(read.unread).toEqual([
      ...['from', 'at', 'sel', 'c', 'lanes', 'cmp', 'panel', 'base', 'alert', 'live'],
    ]);
  });
  test("Grafana's time and time.window centre a window, and are replaced on writing", () => {
    const query = new URLSearchParams('time=1795230252000&time.window=3600000');
    const read = readUrl(query, NOW);
    expect(read.state.range).toEqual({ from: '1795228452000', to: '1795232052000' });
    expect(writeUrl(read.state, query)).toBe('?from=1795228452000&to=1795232052000');
  });
  test('choices make an entry in the history, the cursor does not', () => {
    expect(historyMove(plain, plain)).toBe('none');
    expect(historyMove(plain, { ...plain, at: 5 })).toBe('replace');
    expect(historyMove(full, { ...full, pin: null })).toBe('replace');
    expect(historyMove(full, { ...full, marks: [] })).toBe('replace');
    for (const chosen of [
      { range: full.range },
      { sel: full.sel },
      { commit: full.commit },
      { lanes: full.lanes },
      { log: [] },
      { cmp: full.cmp },
      { panel: full.panel },
      { base: 'week' } as const,
      { ref: full.ref },
      { live: false },
    ])
      expect(historyMove(plain, { ...plain, at: 5, ...chosen })).toBe('push');
  });
});
