// A source that fails is a lane that says so; what is not set up is a line that says what to add.
import { expect, gate, serve, tablePath, test } from './fixtures.ts';
import { TimelinePage } from '../timeline.ts';

const prometheusUrl = (toml: string): string => /\[prometheus\.main\]\s*url = "(.*?)"/.exec(toml)?.[1] ?? '';

test('Prometheus stopped: its lanes say so, the table lanes remain, and Retry is there', async ({
  page,
  story,
  around,
  complaints,
}) => {
  test.slow(); // it starts two servers, and waits until a kept page is over
  let door: Awaited<ReturnType<typeof gate>> | undefined;
  let original = '';
  const probe = await serve((toml) => {
    original = prometheusUrl(toml);
    return toml;
  });
  await probe.stop();
  door = await gate(new URL(original));
  const server = await serve((toml) => toml.replace(original, door.url));
  try {
    const timeline = new TimelinePage(page);
    await page.goto(`${server.url}${tablePath(story)}?${around}`);
    await timeline.drawn();
    await expect(timeline.drawing('Job')).not.toHaveCount(0);
    await door.shut();
    // For a few seconds the page that was made before stands.
    await expect(async () => {
      await page.reload();
      await timeline.drawn();
      await expect(timeline.panel.getByRole('button', { name: /Retry/ }).first()).toBeVisible({
        timeout: 2_000,
      });
    }).toPass({ timeout: 30_000 });
    await expect(timeline.panel.getByRole('group', { name: /failed/ }).first()).toContainText(
      /main|prometheus/i,
    );
    await expect(timeline.drawing('Delete files')).toBeVisible();
    // which jobs read the table is not known without it: no verdict, and a way to ask again
    const explain = page.getByRole('region', { name: 'Explain' });
    await expect(explain.getByRole('button', { name: /Retry/ })).toBeVisible();
    await expect(explain).not.toContainText('Most likely');
    expect(complaints.splice(0).filter((each) => !each.includes('503'))).toEqual([]);
  } finally {
    await page.goto('about:blank'); // its stream would complain of a server that is gone
    await server.stop();
  }
});

test('no Prometheus and no pipeline yet: the pages say what to add', async ({ page, story }) => {
  const server = await serve((toml) =>
    toml
      .replace(/\[prometheus\.main\]\s*url = ".*?"/, '')
      .replace(/namespace = "limnograph"/, 'namespace = "not_yet_written"'),
  );
  try {
    await page.goto(`${server.url}/`);
    // The server is ready once the watcher has read the tables: the hint is a line above them, and unfolds.
    await page.getByText('No pipeline has run yet').first().click();
    await expect(page.getByText('limnograph pipeline --config').first()).toBeVisible();
    // The watcher reads the last 48 hours itself, so the story is there all the same.
    const row = page.getByRole('table').getByRole('row').filter({ hasText: 'customer_events' });
    await expect(row).toBeVisible({ timeout: 40_000 });
    await page.goto(`${server.url}${tablePath(story)}`);
    await expect(page.getByText('No Prometheus is configured').first()).toBeVisible();
    await expect(new TimelinePage(page).drawing('Data files')).toBeVisible();
  } finally {
    await page.goto('about:blank'); // its stream would complain of a server that is gone
    await server.stop();
  }
});
