import { describe, expect, test } from 'vitest';
import { fleetHref, fleetQuestion, listsWorst, readFleetView } from './question.ts';

const params = (text: string) => new URLSearchParams(text);

describe('the address of the fleet', () => {
  test('says nothing when everything is as usual', () => {
    expect(fleetHref(params(''), {})).toBe('/');
    expect(listsWorst(readFleetView(params('')))).toBe(true);
  });

  test('keeps the range and parameters of others when the order changes', () => {
    expect(fleetHref(params('from=now-6h&x=1'), { sort: 'bytes', dir: 'desc' })).toBe(
      '/?from=now-6h&x=1&sort=bytes',
    );
  });

  test('starts at the first page when the list becomes another one', () => {
    expect(fleetHref(params('cursor=abc&skip=50'), { q: 'orders' })).toBe('/?q=orders');
  });

  test('names rise and numbers fall unless it says otherwise', () => {
    expect(readFleetView(params('sort=name')).dir).toBe('asc');
    expect(readFleetView(params('sort=bytes')).dir).toBe('desc');
    expect(fleetHref(params('sort=name'), { sort: 'name', dir: 'desc' })).toBe('/?sort=name&dir=desc');
  });

  test.each(['sort=drop+table', 'dir=sideways', 'skip=-3', 'skip=abc'])(
    '%s counts as the default',
    (text) => {
      expect(readFleetView(params(text))).toMatchObject({ sort: 'attention', dir: 'desc', skip: 0 });
    },
  );

  test('columns, measure and comparison are in it; changing them stays on the page', () => {
    const view = readFleetView(params('cols=files,skew,nothing&heat=alerts&cmp=1d'));
    expect(view).toMatchObject({ cols: ['files', 'skew'], heat: 'alerts', cmp: 86_400 });
    expect(fleetQuestion(view, { from: 1, to: 2 })).toMatchObject({ cmp: 86_400 });
    expect(fleetHref(params('cursor=abc&skip=50'), { heat: 'commits' })).toBe(
      '/?cursor=abc&skip=50&heat=commits',
    );
    expect(fleetHref(params('cursor=abc&skip=50'), { cmp: 86_400 })).toBe('/?cmp=1d');
    expect(fleetHref(params('cols=skew'), { cols: readFleetView(params('')).cols })).toBe('/');
  });

  test('a later page requests with its cursor', () => {
    const asked = fleetQuestion(readFleetView(params('cursor=abc&ns=lake.sales')), { from: 1, to: 2 });
    expect(asked).toMatchObject({ cursor: 'abc', ns: 'lake.sales', limit: 50 });
    // the same address means another range an hour later: that of its first page is in the cursor
    expect([asked.from, asked.to]).toEqual([undefined, undefined]);
  });
});
