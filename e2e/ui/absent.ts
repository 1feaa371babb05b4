// Scenarios whose feature does not exist yet. `scenarios.spec.ts` fails when one does and its mark is still there.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../browser.ts';
import { test } from './fixtures.ts';

export interface Feature {
  /** Beginning of a path of the API: the feature is there once the dashboard asks for it. */
  readonly route?: string;
  /** Folder of a page below `frontend/src/routes`. */
  readonly page?: string;
  /** Text in a file of the dashboard, for what has neither. */
  readonly code?: readonly [file: string, text: string];
}

const TABLE = 't/[catalog]/[ns]/[table]';
export const FEATURES = {
  alerts: { route: '/api/v1/alerts', page: 'alerts' },
  explain: { route: '/api/v1/tables/{catalog}/{namespace}/{table}/explain', page: `${TABLE}/explain` },
} satisfies Record<string, Feature>;
export type FeatureName = keyof typeof FEATURES;

/** A scenario of the list that waits for a feature. */
export function waitsFor(feature: FeatureName, title: string): void {
  test.fixme(title, { annotation: { type: 'waits for', description: feature } }, () => {});
}

/** Whether a feature has come to the dashboard, so that its scenarios must be written. */
export function exists(name: FeatureName): boolean {
  const { route, page, code }: Feature = FEATURES[name];
  const frontend = join(root, 'frontend/src');
  if (route && readFileSync(join(frontend, 'lib/api/client.ts'), 'utf8').includes(`'${route}`)) return true;
  if (page && existsSync(join(frontend, 'routes', page, '+page.svelte'))) return true;
  return code !== undefined && readFileSync(join(frontend, code[0]), 'utf8').includes(code[1]);
}
