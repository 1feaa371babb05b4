// Every page of the dashboard, by what stands on it once it is drawn.
import { expect, type Page } from '@playwright/test';
import { TimelinePage } from '../timeline.ts';
import { at, BURST_ID, NIGHT, TABLE } from './moment.ts';
import { BURST_LABELS, linkOf } from './alert-story.ts';
import { BURST_FINDING } from './finding-story.ts';

export interface View {
  readonly name: string;
  readonly path: string;
  readonly drawn: (page: Page) => Promise<void>;
  /** Shows names that people of the lake chose. */
  readonly named: boolean;
  /** Asks the server for what it shows; settings do not. */
  readonly asks: boolean;
}

/** On a phone, each row is an item of a list. */
const commitRows = (page: Page) =>
  expect(
    page
      .getByRole('row')
      .or(page.getByRole('list', { name: 'Commits' }).getByRole('listitem'))
      .nth(3),
  ).toBeVisible();
const rows = (least: number) => (page: Page) => expect(page.getByRole('row').nth(least)).toBeVisible();

/** The panel comes last, and headings that come while a page is looked through cannot be put in order. */
const explained = (page: Page) =>
  expect(page.getByRole('region', { name: 'Explain' })).toHaveAttribute('aria-busy', 'false');

export const VIEWS: readonly View[] = [
  { name: 'fleet', path: '/', drawn: rows(3), named: true, asks: true },
  {
    name: 'table',
    path: `${TABLE}?${NIGHT}`,
    drawn: async (page) => {
      await new TimelinePage(page).drawn();
      await explained(page);
    },
    named: true,
    asks: true,
  },
  {
    name: 'commit',
    path: `${TABLE}/commits/${BURST_ID}`,
    drawn: (page) => expect(page.getByText('51,202').first()).toBeVisible(),
    named: true,
    asks: true,
  },
  { name: 'commits of a table', path: `${TABLE}/commits`, drawn: commitRows, named: true, asks: true },
  {
    name: 'reads',
    path: `${TABLE}/reads?${NIGHT}`,
    drawn: (page) =>
      expect(
        page.getByRole('heading', { name: /^(Readers|No read was reported in this range)$/ }),
      ).toBeVisible(),
    named: true,
    asks: true,
  },
  {
    name: 'columns',
    path: `${TABLE}/columns?${NIGHT}`,
    drawn: (page) =>
      expect(
        page
          .getByRole('heading', { name: /^(Columns|No statistics of columns are known in this range)$/ })
          .last(),
      ).toBeVisible(),
    named: true,
    asks: true,
  },
  {
    name: 'partitions',
    path: `${TABLE}/partitions?at=${at('04:00')}`,
    drawn: rows(2),
    named: true,
    asks: true,
  },
  {
    name: 'schema',
    path: '/t/lake/marketing/campaigns/schema',
    drawn: rows(2),
    named: true,
    asks: true,
  },
  {
    name: 'refs',
    path: `${TABLE}/refs`,
    drawn: (page) => expect(page.getByRole('heading', { name: 'Branches and tags' })).toBeVisible(),
    named: true,
    asks: true,
  },
  {
    name: 'maintenance of a table',
    path: `${TABLE}/maintenance`,
    drawn: (page) => expect(page.getByRole('heading', { name: 'Storage' })).toBeVisible(),
    named: true,
    asks: true,
  },
  {
    name: 'maintenance',
    path: '/maintenance',
    drawn: async (page) => {
      const plans = page.getByRole('list', { name: 'Plans, best value per cost first' });
      await expect(plans.getByRole('group').nth(2)).toBeVisible();
    },
    named: true,
    asks: true,
  },
  {
    name: 'plan',
    path: `/maintenance/plans/${'0'.repeat(32)}`,
    drawn: (page) => expect(page.getByRole('list', { name: 'History, newest first' })).toBeVisible(),
    named: true,
    asks: true,
  },
  {
    name: 'forecast of a table',
    path: `${TABLE}/forecast`,
    drawn: (page) => expect(page.getByRole('heading', { name: 'Bytes and cost ahead' })).toBeVisible(),
    named: true,
    asks: true,
  },
  {
    name: 'at risk',
    path: '/forecasts',
    drawn: (page) =>
      expect(page.getByRole('list', { name: 'At risk' }).getByRole('group').nth(2)).toBeVisible(),
    named: true,
    asks: true,
  },
  { name: 'commits', path: '/commits', drawn: commitRows, named: true, asks: true },
  {
    name: 'effect ledger',
    path: '/maintenance/ledger',
    drawn: async (page) => {
      const effects = page.getByRole('list', { name: 'Effects, newest operation first' });
      await expect(effects.getByRole('group').nth(2)).toBeVisible();
    },
    named: true,
    asks: true,
  },
  {
    name: 'findings',
    path: '/findings',
    drawn: (page) =>
      expect(
        page
          .getByRole('list', { name: /^Open findings/ })
          .getByRole('group')
          .nth(2),
      ).toBeVisible(),
    named: true,
    asks: true,
  },
  {
    name: 'finding',
    path: `/findings/${BURST_FINDING}`,
    drawn: (page) =>
      expect(page.getByRole('region', { name: 'Seen before' }).getByRole('link')).toBeVisible(),
    named: true,
    asks: true,
  },
  { name: 'alerts', path: '/alerts', drawn: rows(3), named: true, asks: true },
  {
    name: 'incident',
    path: linkOf(BURST_LABELS),
    drawn: async (page) => {
      await expect(page.getByText(/append at 03:04:12 added/)).toBeVisible();
      await expect(page.getByRole('region', { name: 'Do next' }).getByRole('listitem').first()).toBeVisible();
      await expect(page.getByRole('heading', { name: 'Before and after' })).toBeVisible();
      await new TimelinePage(page).drawn();
      await explained(page);
    },
    named: true,
    asks: true,
  },
  {
    name: 'alert without a table',
    path: '/a?alertname=LakehouseTableStale',
    drawn: (page) => expect(page.getByRole('link', { name: /lake \/ ops \/ .*inventory/ })).toBeVisible(),
    named: true,
    asks: true,
  },
  {
    name: 'status',
    path: '/status',
    drawn: (page) =>
      expect(
        page
          .getByRole('main')
          .getByText(/pipeline/i)
          .first(),
      ).toBeVisible(),
    named: false,
    asks: true,
  },
  {
    name: 'settings',
    path: '/settings',
    drawn: (page) => expect(page.getByRole('heading', { name: 'Settings', level: 1 })).toBeVisible(),
    named: false,
    asks: false,
  },
  {
    name: 'no page',
    path: '/tables',
    drawn: (page) => expect(page.getByRole('heading', { level: 1 })).toBeVisible(),
    named: false,
    asks: false,
  },
];
