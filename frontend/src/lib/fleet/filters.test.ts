import { describe, expect, test } from 'vitest';
import { chipsOf, filterQuestion, NO_FILTERS, readFilters, readPercent } from './filters.ts';
import { fleetHref, fleetQuestion, isFiltered, listsWorst, readFleetView, UNFILTERED } from './question.ts';

const params = (text: string) => new URLSearchParams(text);
const ALL =
  'severity=warning&code=small_files&acknowledged=any&owner=ada&format=delta&has_job=false&grew=0.2&within=1h&planning=1&missed=0.5';
const SPAN = { from: 1, to: 2 };

describe('the filters of the fleet', () => {
  test('are read from the address, sent to the server and written back', () => {
    const view = readFleetView(params(ALL));
    expect(fleetQuestion(view, SPAN)).toMatchObject({
      ...{ severity: 'warning', code: 'small_files', acknowledged: 'any', owner: 'ada' },
      ...{ format: 'delta', has_job: false, grew: 0.2, within: 3600, planning: 1, missed: 0.5 },
    });
    expect(fleetHref(params(ALL), {})).toBe(`/?${ALL}`);
  });

  test('have a chip each, which takes that filter alone away', () => {
    const chips = chipsOf(readFilters(params(ALL)));
    expect(chips.map(({ text }) => text)).toEqual([
      ...['severity: warning', 'finding: small files', 'findings: with or without acknowledgement'],
      ...['owner: ada', 'format: delta', 'has no job', 'grew > 20 % within 1 h'],
      ...['planning p95 > 1 s', 'scans that miss the partitions > 50 %'],
    ]);
    for (const { change } of chips) {
      const left = params(fleetHref(params(ALL), change).slice(2));
      const kept = params(ALL);
      for (const name of Object.keys(change)) kept.delete(name);
      expect([...left]).toEqual([...kept]);
    }
    expect(fleetHref(params(`${ALL}&q=x&sort=bytes&cursor=c&skip=50`), UNFILTERED)).toBe('/?sort=bytes');
  });

  test.each([
    'severity=bad',
    'code=x',
    'format=csv',
    'has_job=maybe',
    'acknowledged=x',
    'grew=-1',
    'grew=much',
    'planning=3601',
    'missed=1.1',
  ])('%s counts as no filter', (text) => {
    expect(readFilters(params(text))).toEqual(NO_FILTERS);
    expect(isFiltered(readFleetView(params(text)))).toBe(false);
  });

  test('the time of growth is sent only where growth is shown, as seconds', () => {
    expect(filterQuestion(readFilters(params('within=900')), false)).toEqual({});
    expect(fleetQuestion(readFleetView(params('sort=growth&within=900')), SPAN)).toMatchObject({
      within: 900,
    });
    expect(fleetQuestion(readFleetView(params('cols=growth')), SPAN)).toMatchObject({ within: 3600 });
    expect(fleetQuestion(readFleetView(params('grew=0.5')), SPAN)).toMatchObject({ grew: 0.5, within: 3600 });
    expect(readFilters(params('within=8d')).within).toBeNull();
  });

  test('make the list another one than that of the worst tables', () => {
    expect(listsWorst(readFleetView(params('owner=ada')))).toBe(false);
    expect(listsWorst(readFleetView(params('cols=growth')))).toBe(false);
    expect(fleetHref(params('cursor=abc&skip=50'), { owner: 'ada' })).toBe('/?owner=ada');
  });

  test('a percentage is typed with a comma or a sign, and nothing else', () => {
    expect(['20', '0,5', '7 %', '0'].map(readPercent)).toEqual([0.2, 0.005, 0.07, 0]);
    expect(['', '-1', 'much', '1e99'].map(readPercent)).toEqual([null, null, null, null]);
  });
});
