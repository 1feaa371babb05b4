import { expect, test } from 'vitest';
import { letterIntent, sliderIntent, type Key } from './keys.ts';

const key = (name: string, more: Partial<Key> = {}): Key => ({
  key: name,
  code: name,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
});

test('arrows move by a step, pages by ten, right and up are later', () => {
  expect(['ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown'].map((name) => sliderIntent(key(name)))).toEqual(
    [-1, 1, 10, -10].map((steps) => ({ do: 'move', steps })),
  );
});
test('with Shift they extend the selection', () => {
  expect(sliderIntent(key('ArrowRight', { shiftKey: true }))).toEqual({ do: 'extend', steps: 1 });
});
test('letters go by their place on the keyboard, whatever they print', () => {
  expect(letterIntent(key('ü', { code: 'BracketLeft' }))).toEqual({ do: 'previous' });
});
test('combinations belong to the browser', () => {
  expect([
    letterIntent(key('c', { code: 'KeyC', ctrlKey: true })),
    letterIntent(key('Z', { code: 'KeyZ', ctrlKey: true, shiftKey: true })),
    sliderIntent(key('ArrowLeft', { altKey: true })),
  ]).toEqual([null, null, null]);
});
test('but undoing is going back to the range before', () => {
  expect(letterIntent(key('z', { code: 'KeyZ', metaKey: true }))).toEqual({ do: 'back' });
});
test('Space pauses on the slider only: elsewhere it presses a button', () => {
  expect([sliderIntent(key(' ')), letterIntent(key(' '))]).toEqual([{ do: 'pause' }, null]);
});
test('Backspace means nothing here', () => {
  expect([letterIntent(key('Backspace')), sliderIntent(key('Backspace'))]).toEqual([null, null]);
});
