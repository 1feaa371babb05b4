// Limnograph's page: lanes of the dashboard's timeline, drawn from a response. `measure.mjs` calls the globals.
import '../../frontend/src/app.css';
import { flushSync, mount } from 'svelte';
import { Cursor } from '../../frontend/src/lib/state/Cursor.svelte.ts';
import Timeline from '../../frontend/src/lib/timeline/Timeline.svelte';
import { NOW, series } from './data.ts';

const nothing = () => undefined;

function answer(lanes: number, points: number, step: number) {
  const to = NOW;
  const from = to - points * step * 1000;
  const names = Array.from({ length: lanes }, (_, i) => `series_${i + 1}`);
  return {
    range: { from, to, step },
    watermark: to,
    t: Array.from({ length: points }, (_, i) => from + i * step * 1000),
    lanes: names.map((id, i) => ({
      ...{ id, source: 'meta', unit: 'files', status: 'ok', label: null, age_s: 1, resolution: 'raw' },
      ...{ problem: null, query: null, min: null, max: null },
      kind: i % 5 === 4 ? 'step' : 'line',
      v: series(i, points),
    })),
    cmp: null,
    detail: null,
  };
}

let props = $state.raw<Record<string, unknown>>({});
const laidOut = () => document.querySelector('footer')?.getBoundingClientRect();

function draw(lanes: number, points: number, step: number): number {
  const drawn = answer(lanes, points, step);
  props = {
    ...{ answer: drawn, span: drawn.range, now: NOW, cursor: new Cursor() },
    ...{ onrange: nothing, onback: nothing, oncommit: nothing, oncompare: nothing, onretry: nothing },
  };
  const given = {};
  for (const name of Object.keys(props))
    Object.defineProperty(given, name, { get: () => props[name], enumerable: true });
  const start = performance.now();
  mount(Timeline as never, { target: document.body, props: given as never });
  flushSync();
  laidOut();
  return performance.now() - start;
}

/** Zooms by one step at each end and back; returns the time of each redraw. */
function redraws(times: number): number[] {
  const { from, to, step } = props['span'] as { from: number; to: number; step: number };
  return Array.from({ length: times }, (_, i) => {
    const by = i % 2 ? 0 : step * 1000;
    const start = performance.now();
    props = { ...props, span: { from: from + by, to: to - by, step } };
    flushSync();
    laidOut();
    return performance.now() - start;
  });
}

async function moves(times: number): Promise<number[]> {
  const plot = document.querySelectorAll('[data-lane] svg')[1]!;
  const box = plot.getBoundingClientRect();
  const took: number[] = [];
  for (let i = 0; i < times; i += 1) {
    const start = performance.now();
    plot.dispatchEvent(
      new PointerEvent('pointermove', {
        ...{ bubbles: true, pointerType: 'mouse', clientY: box.top + 20 },
        clientX: box.left + (box.width * ((i * 37) % 300)) / 300,
      }),
    );
    flushSync();
    took.push(performance.now() - start);
    if (i % 30 === 0) await new Promise(requestAnimationFrame);
  }
  return took;
}

Object.assign(globalThis, {
  draw,
  redraws,
  moves,
  paths: () => document.querySelectorAll('path.series').length,
});
