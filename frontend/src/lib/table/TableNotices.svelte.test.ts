import '../../app.css';
import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { Resource } from '#lib/state/Resource.svelte.ts';
import { story } from '#lib/timeline/fixtures/story.ts';
import type { Answer } from '#lib/api/lanes.ts';
import TableNotices from './TableNotices.svelte';
import { TimelineView } from './TimelineView.svelte.ts';

async function shown(resolution: string) {
  const timeline = new Resource<Answer>();
  const answer = story();
  timeline.take({ ...answer, lanes: answer.lanes.map((lane) => ({ ...lane, resolution }) as typeof lane) });
  const view = new TimelineView();
  view.ref = 'audit';
  return render(TableNotices, { view, detail: undefined, timeline, onretry: () => undefined });
}

test('where marks group hours of commits the page says that they are not filtered by ref', async () => {
  const screen = await shown('hour');
  await expect
    .element(screen.getByRole('note'))
    .toMatchTextContent(/all commits of an hour, on any ref. .* audit/);
});

test('with single commits there is no notice', async () => {
  const screen = await shown('raw');
  expect(screen.getByRole('note').elements()).toEqual([]);
});
