import { expect, test } from 'vitest';
import { csv } from './csv.ts';

test('numbers are plain, unknown values are empty', () =>
  expect(
    csv([
      ['a', 'b', 'c'],
      [1.5, null, -3],
    ]),
  ).toBe('a,b,c\r\n1.5,,-3\r\n'));

test.each([
  ['=1+1', "'=1+1"],
  ['+49', "'+49"],
  ['-cmd', "'-cmd"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['  =1', "'  =1"],
  ['\t=1', '"\'\t=1"'],
  ['＝1', "'＝1"],
  ['=HYPERLINK("http://x";"y")', '"\'=HYPERLINK(""http://x"";""y"")"'],
])('%j is text in a spreadsheet', (text, written) => expect(csv([[text]])).toBe(`${written}\r\n`));

test.each([
  ['orders\u202egnp.exe', 'orders\\u202egnp.exe'],
  ['or\u200bders', 'or\\u200bders'],
  ['\ufeff=1+1', "'\\ufeff=1+1"],
  ['\u2066admin\u2069', '\\u2066admin\\u2069'],
  ['commandes été 日本', 'commandes été 日本'],
])('%j shows what it is made of', (text, written) => expect(csv([[text]])).toBe(`${written}\r\n`));

test('what splits a row somewhere is quoted, also where rows split at semicolons', () => {
  for (const sign of [',', ';', '\t', '\n', '"'])
    expect(csv([[`a${sign}=b`]])).toBe(`"a${sign === '"' ? '""' : sign}=b"\r\n`);
});
test('an ordinary name, an id and an instant stay as they are', () =>
  expect(csv([['sales.orders', 'append 5184430069070270604', '2026-11-21T03:04:12Z']])).toBe(
    'sales.orders,append 5184430069070270604,2026-11-21T03:04:12Z\r\n',
  ));
