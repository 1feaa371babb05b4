// What drawing costs, counted and not timed: eight lanes of 1,440 points and a night of commits. `make bench` has the
// times.
import '../../app.css';
import { flushSync, mount } from 'svelte';
import { expect, test } from 'vitest';
import { Cursor } from '#lib/state/Cursor.svelte.ts';
import { NOW, story } from './fixtures/story.ts';
import type { Answer, StepLane } from '#lib/api/lanes.ts';
import Timeline from './Timeline.svelte';

const DAY_MS = 86_400_000;
const SPAN = { from: NOW - DAY_MS, to: NOW, step: 60 };
/** Elements inside the drawings: a path a series, a few lines a lane, the marks. */
const MOST_NODES = 160;
/** What a move of the pointer changes: crosshair, dot and read-out of each lane, the axis. */
const MOST_CHANGES = 60;

/** 1,440 points in eight drawn series lanes and the commits. */
function wide(): Answer {
  const answer = story(SPAN);
  const files = answer.lanes.find((lane) => lane.id === 'data_files') as StepLane;
  const more = ['records', 'bytes', 'manifests', 'debt'].map((id): StepLane => ({
    ...files,
    id,
    v: files.v.map((value, i) => (value === null ? null : value + (i % 7) * 90)),
  }));
  const drawn = ['job_duration', 'commits', 'data_files', 'file_size', 'delete_files'];
  return { ...answer, lanes: [...answer.lanes.filter((lane) => drawn.includes(lane.id)), ...more] };
}

/** Mounts and makes the browser lay out what was drawn. */
function draw(answer: Answer) {
  const drawn = mount(Timeline, {
    target: document.body,
    props: {
      answer,
      span: SPAN,
      now: NOW,
      cursor: new Cursor(),
      onrange: () => undefined,
      onback: () => undefined,
      oncommit: () => undefined,
      oncompare: () => undefined,
      onretry: () => undefined,
    },
  });
  flushSync();
  document.querySelector('[data-lane=debt]')?.getBoundingClientRect();
  return drawn;
}

test('eight lanes are few elements, and a move of the pointer changes few of them', async () => {
  const answer = wide();
  expect(answer.t).toHaveLength(1440);
  draw(answer);
  expect(document.querySelectorAll('path.series')).toHaveLength(8);
  expect(document.querySelectorAll('.timeline svg *').length).toBeLessThan(MOST_NODES);
  const plot = document.querySelector('[data-lane=data_files] svg.drawing') as SVGElement;
  const box = plot.getBoundingClientRect();
  const changes = new MutationObserver(() => undefined);
  changes.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  const counted: number[] = [];
  for (let i = 0; i < 60; i++) {
    plot.dispatchEvent(
      new PointerEvent('pointermove', {
        bubbles: true,
        pointerType: 'mouse',
        clientX: box.left + (box.width * ((i * 37) % 60)) / 60,
        clientY: box.top + 20,
      }),
    );
    flushSync();
    counted.push(changes.takeRecords().length);
  }
  changes.disconnect();
  expect(Math.min(...counted)).toBeGreaterThan(8);
  expect(Math.max(...counted)).toBeLessThan(MOST_CHANGES);
});
