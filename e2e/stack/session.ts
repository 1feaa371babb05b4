// One login for all scenarios, kept as the state that each browser context starts with. A demo with --no-login needs none.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FullConfig, request } from '@playwright/test';
import { DEMO, demoToken } from '../demo-token.ts';

export const SESSION = join(DEMO, 'scratch', 'e2e-session.json');

export default async function logIn(config: FullConfig): Promise<void> {
  const { baseURL } = config.projects[0]!.use;
  const api = await request.newContext({ ...(baseURL && { baseURL }) });
  const answer = await api.post('/api/v1/session', { data: { token: demoToken(), next: '/' } });
  // 400: the server requires no login
  if (!answer.ok() && answer.status() !== 400)
    throw new Error(`the demo's token was refused: ${answer.status()} ${await answer.text()}`);
  writeFileSync(SESSION, JSON.stringify(await api.storageState()), { mode: 0o600 });
  await api.dispose();
}
