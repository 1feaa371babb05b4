import { expect, test } from 'vitest';
import { press, type Action, type PendingChord } from './chords.ts';

const key = (code: string, more: object = {}) => ({
  code,
  key: code.replace('Key', '').toLowerCase(),
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
});

function typed(codes: string[], gapMs = 100): Action | null {
  let waiting: PendingChord | null = null;
  let action: Action | null = null;
  codes.forEach((code, i) => ({ waiting, action } = press(key(code), waiting, i * gapMs, true)));
  return action;
}

test.each([
  ['KeyG KeyF', 'fleet'],
  ['KeyG KeyT', 'table'],
  ['KeyG KeyI', 'findings'],
  ['KeyG KeyA', 'alerts'],
  ['KeyG KeyC', 'commits'],
  ['KeyG KeyS', 'status'],
  ['KeyT KeyZ', 'widen'],
  ['KeyT KeyC', 'copyRange'],
  ['KeyT KeyV', 'pasteRange'],
  ['KeyT KeyA', 'freeze'],
  ['KeyT ArrowLeft', 'earlier'],
  ['KeyT ArrowRight', 'later'],
])('%s is %s', (codes, action) => expect(typed(codes.split(' '))).toBe(action));

test('a second key that comes late, or is another, does nothing', () => {
  expect(typed(['KeyG', 'KeyF'], 2000)).toBeNull();
  expect(typed(['KeyG', 'KeyX', 'KeyF'])).toBeNull();
  expect(typed(['KeyF'])).toBeNull();
});
test('a first key may be the second of another chord, and then begins none', () => {
  expect(typed(['KeyG', 'KeyT', 'KeyZ'])).toBeNull();
  expect(typed(['KeyT', 'KeyG', 'KeyF'])).toBe('fleet');
});
test('where the letters sit decides, not what a layout prints on them', () => {
  const first = press(key('KeyG', { key: 'п' }), null, 0, true);
  expect(press(key('KeyF', { key: 'а' }), first.waiting, 50, true).action).toBe('fleet');
});
test('Ctrl+K and Cmd+K open the palette even where letters are switched off', () => {
  for (const more of [{ ctrlKey: true }, { metaKey: true }])
    expect(press(key('KeyK', more), null, 0, false)).toMatchObject({ action: 'palette', taken: true });
  expect(press(key('KeyK', { ctrlKey: true, shiftKey: true }), null, 0, true).action).toBeNull();
});
test('switched off, no letter and no sign does anything', () => {
  for (const one of [key('KeyG'), key('Slash', { key: '/' }), key('Slash', { key: '?', shiftKey: true })])
    expect(press(one, { prefix: 'KeyG', at: 0 }, 10, false)).toEqual({
      waiting: null,
      action: null,
      taken: false,
    });
});
test('signs count by what is typed', () => {
  expect(press(key('Digit7', { key: '/', shiftKey: true }), null, 0, true).action).toBe('finder');
  expect(press(key('Minus', { key: '?', shiftKey: true }), null, 0, true).action).toBe('help');
});
