// The demo in LIMNOGRAPH_DEMO_DIR, else in the checkout, and the token that its server accepts.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './browser.ts';

export const DEMO = process.env['LIMNOGRAPH_DEMO_DIR'] ?? join(root, '.demo');

/** Empty: a demo of an older version. */
export function demoToken(): string {
  const file = join(DEMO, 'token');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
}

/** Headers of a request from outside a browser. */
export const authorized = (): Record<string, string> => {
  const token = demoToken();
  return token ? { authorization: `Bearer ${token}` } : {};
};
