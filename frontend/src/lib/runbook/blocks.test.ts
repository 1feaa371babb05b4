import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blocksOf } from './blocks.ts';

test('headings, paragraphs, lists and statements are blocks of text', () => {
  const text =
    '# A\n\nOne `b` of\n**c**, [d](d-e.md) and [f](https://g).\n\n```sql\nSELECT 1;\n```\n\n* x\n* y\n';
  const [title, paragraph, code, list] = blocksOf(text);
  expect(title).toEqual({ kind: 'title', parts: [{ kind: 'text', text: 'A' }] });
  expect(paragraph?.kind === 'paragraph' && paragraph.parts).toEqual([
    { kind: 'text', text: 'One ' },
    { kind: 'code', text: 'b' },
    { kind: 'text', text: ' of ' },
    { kind: 'strong', text: 'c' },
    { kind: 'text', text: ', ' },
    { kind: 'link', text: 'd', name: 'd-e' },
    { kind: 'text', text: ' and ' },
    { kind: 'text', text: 'f (https://g)' },
    { kind: 'text', text: '.' },
  ]);
  expect(code).toEqual({ kind: 'code', language: 'sql', text: 'SELECT 1;' });
  expect(list?.kind === 'list' && list.items.map(([part]) => part?.text)).toEqual(['x', 'y']);
});

test('every runbook that comes with the server has a title, sections and no marks left over', () => {
  const folder = new URL('../../../../docs/runbooks/', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md');
  expect(names.length).toBeGreaterThan(15);
  for (const name of names) {
    const blocks = blocksOf(readFileSync(new URL(name, folder), 'utf8'));
    expect(blocks[0]?.kind, name).toBe('title');
    expect(blocks.filter(({ kind }) => kind === 'heading').length, name).toBeGreaterThan(2);
    const texts = blocks
      .flatMap((block) => ('parts' in block ? block.parts : []))
      .filter(({ kind }) => kind === 'text');
    expect(
      texts.filter(({ text }) => /^#|```|\*\*/.test(text)),
      name,
    ).toEqual([]);
  }
});
