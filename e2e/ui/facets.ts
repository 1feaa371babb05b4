// How many tables each filter of the fleet would leave: the recorded lake has no owners and no findings.
import type { Page } from '@playwright/test';

export async function serveFacets(page: Page): Promise<void> {
  await page.route(/\/api\/v1\/tables\/facets/, (route) =>
    route.fulfill({
      json: {
        total: 3,
        severity: ['critical', 'warning', 'info'].map((value, i) => ({ value, tables: i })),
        code: [{ value: 'file_burst', tables: 2 }],
        acknowledged: [
          { value: 'true', tables: 0 },
          { value: 'false', tables: 3 },
        ],
        owner: [{ value: 'data-platform', tables: 3 }],
        format: [{ value: 'iceberg', tables: 10 }],
        has_job: [
          { value: 'true', tables: 4 },
          { value: 'false', tables: 8 },
        ],
        namespace: [],
      },
    }),
  );
}
