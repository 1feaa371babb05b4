import '../../app.css';
import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import { axeFindings, doubleIds } from '../../test/axe.ts';
import { schemaPage, version } from './fixtures.ts';
import SchemaView from './SchemaView.svelte';

const hrefOf = (t: number) => `/t/lake/sales/customer_events?at=${t}`;

test('a renamed column is shown as renamed under the same field id, and as breaking for readers', async () => {
  const screen = await render(SchemaView, { page: schemaPage(), hrefOf });
  await expect.element(screen.getByRole('heading', { name: 'Schema s12 → s13' })).toBeVisible();
  await expect.element(screen.getByText('Breaking for readers', { exact: true }).first()).toBeVisible();
  const change = screen
    .getByRole('listitem')
    .filter({ hasText: /^.*Renamed.*from uid to user_id.*field 2/s });
  await expect.element(change.last()).toBeVisible();
  await expect
    .element(screen.getByRole('link', { name: 'Show on timeline: Schema 13' }))
    .toHaveAttribute('href', hrefOf(version().t));
  await expect.element(screen.getByText('Partitioned by day(event_time)')).toBeVisible();
  expect([await axeFindings(), doubleIds()]).toEqual([[], []]);
});

test('the matrix reads as a table: a field’s id, its name, what each version did to it', async () => {
  const screen = await render(SchemaView, { page: schemaPage(), hrefOf });
  await expect.element(screen.getByRole('row', { name: /2 user_id string now ?user_id/ })).toBeVisible();
  await expect.element(screen.getByRole('row', { name: /1 id long, required .*unchanged/ })).toBeVisible();
});

test('names of the observed table stay text', async () => {
  const evil = '<img src=x onerror=alert(1)>';
  const change = { ...version().changes[0]!, name: evil, before: evil, after: '\u202egnp.exe' };
  const versions = [version({ changes: [change] })];
  const matrix = [
    {
      field_id: 2,
      name: evil,
      spans: [{ first: 0, versions: 1, name: evil, type: evil, required: false, doc: null }],
    },
  ];
  const screen = await render(SchemaView, { page: schemaPage({ versions, matrix }), hrefOf });
  await expect.element(screen.getByText(evil).first()).toBeVisible();
  expect(document.querySelector('img')).toBeNull();
});

test('a table of which nothing is known says so, with what to do', async () => {
  const screen = await render(SchemaView, {
    page: schemaPage({ versions: [], matrix: [], matrix_versions: [] }),
    hrefOf,
  });
  await expect.element(screen.getByText('No schema version known')).toBeVisible();
  await expect.element(screen.getByRole('link', { name: 'Status' })).toBeVisible();
});

test('320 px need no sideways scroll of the page', async () => {
  await page.viewport(320, 800);
  await render(SchemaView, { page: schemaPage(), hrefOf });
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(320);
  await page.viewport(1280, 800);
});
