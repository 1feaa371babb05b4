// Six pitfalls that the reference lakehouse makes on purpose, as one finds them: from the fleet to the table, its finding,
// what that rests on, what it does to jobs, and what to do about it.
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';

interface Shown {
  code: string;
  table: string;
  /** A part of the finding's sentence. */
  says: RegExp;
  /** A part of what the page says of the action; none where a person must change the table. */
  action?: RegExp;
}

const SIX: Shown[] = [
  { code: 'small_files', table: 'old_files', says: /files/, action: /200 files into 1/ },
  { code: 'snapshots_unbounded', table: 'old_snapshots', says: /snapshots/, action: /Expire snapshots/ },
  { code: 'manifests_fragmented', table: 'old_manifests', says: /manifests/, action: /manifests/ },
  { code: 'high_cardinality_partitioning', table: 'by_user', says: /partition/i },
  { code: 'deletes_not_materialized', table: 'personal', says: /delete/i },
  { code: 'equality_deletes', table: 'equality_deletes', says: /equality delete/i },
];
const pictures = process.env['LIMNOGRAPH_LAKEHOUSE_PICTURES'];

interface Finding {
  finding_id: string;
  code: string;
}

async function picture(page: Page, name: string): Promise<void> {
  if (!pictures) return;
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled', caret: 'hide' });
}

for (const { code, table, says, action } of SIX)
  test(`the fleet leads to ${code} of ${table}`, async ({ page, request }) => {
    const asked = await request.get(`/api/v1/findings?code=${code}&table=lake.lab.${table}`);
    const { rows } = (await asked.json()) as { rows: Finding[] };
    const id = rows[0]?.finding_id;
    expect(id, 'the API has the finding open').toBeTruthy();

    await page.goto('/');
    await page
      .getByRole('table')
      .getByRole('link', { name: new RegExp(`\\b${table}$`) })
      .first()
      .click();
    await expect(page).toHaveURL(new RegExp(`/t/lake/lab/${table}`));
    const findings = page.getByRole('region', { name: 'Findings', exact: true });
    await findings.locator(`a[href^="/findings/${id}"]`).first().click();

    await expect(page).toHaveURL(new RegExp(`/findings/${id}`));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(says);
    await expect(
      page.getByRole('region', { name: 'Evidence' }).getByRole('definition').first(),
    ).toBeVisible();
    await expect(page.getByRole('region', { name: 'Effect on jobs' })).toBeVisible();
    const next = page.getByRole('region', { name: 'Next action' });
    await expect(next).toHaveAttribute('aria-busy', 'false');
    if (action) await expect(next).toContainText(action);
    await picture(page, code.replaceAll('_', '-'));
  });
