import { expect, test } from 'vitest';
import { byline, newKey, noteLines, subjectOf, type Note } from './words.ts';

const AT = Date.UTC(2026, 10, 21, 3, 20);

function note(change: Partial<Note> = {}): Note {
  return {
    ...{ note_id: 'n1', event_id: 'e1', kind: 'note', scope: 'table', target_id: '', table_uuid: 'u' },
    ...{ catalog: 'lake', namespace: 'sales', table: 'orders', from: null, to: null, until: null },
    ...{
      text: 'Tuesday',
      author: 'Ada',
      at: AT,
      created_by: 'Ada',
      created_at: AT,
      edits: 0,
      deleted: false,
    },
    ...change,
  };
}

test('who wrote a note and when, and that it was edited', () => {
  expect(byline(note())).toBe('Ada, 21 Nov 2026, 03:20:00 UTC');
  expect(byline(note({ edits: 2 }))).toBe('Ada, 21 Nov 2026, 03:20:00 UTC, edited');
});

test('a note leads to what it is about', () => {
  expect(subjectOf(note())).toBeNull();
  expect(subjectOf(note({ scope: 'finding', target_id: 'f1' }))?.href).toBe('/findings/f1');
  expect(subjectOf(note({ scope: 'commit', target_id: '7' }))).toEqual({
    text: 'commit 7',
    href: '/t/lake/sales/orders/commits/7',
  });
  expect(subjectOf(note({ scope: 'alert', target_id: 'a/1', from: AT }))?.href).toBe(
    `/alerts/a%2F1?starts_at=${AT}`,
  );
  expect(subjectOf(note({ scope: 'range', from: AT, to: AT + 1_800_000 }))?.text).toContain('03:20 – 03:50');
  expect(subjectOf(note({ scope: 'commit', target_id: '7', table: null }))?.href).toBeNull();
});

test('in Markdown a note adds no link, no mention and no markup', () => {
  const [line, ...more] = noteLines([
    note({ author: '@here', text: '[x](https://evil.example)\n# title <b> @team' }),
    note({ kind: 'ack', text: 'known' }),
    note({ text: '' }),
  ]);
  expect(more).toEqual([]);
  expect(line).toMatch(/^- Note by /);
  for (const bad of ['[x](', '\n', '<b>', '@here', '@team', 'https://']) expect(line).not.toContain(bad);
});

test('keys of notes differ', () => {
  const keys = new Set(Array.from({ length: 100 }, newKey));
  expect(keys.size).toBe(100);
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
});
