// A link from an alert survives the login, whether the page or only its data are refused.
import { execFileSync } from 'node:child_process';
import { expect, limnograph, serve, tablePath, test } from './fixtures.ts';
import { TimelinePage } from '../timeline.ts';

const withLogin = (toml: string) => toml.replace('mode = "none"', 'mode = "tokens"');

function createToken(settings: string): string {
  const asked = ['token', 'create', 'paged', '--scope', 'read', '--config', settings];
  return /^lmn_[\w-]+/.exec(execFileSync(limnograph, asked, { encoding: 'utf8', stdio: 'pipe' }))?.[0] ?? '';
}

test('an alert link survives the login, and so does a page whose session ends', async ({
  page,
  story,
  around,
  complaints,
}) => {
  test.slow(); // it starts a server
  const server = await serve(withLogin);
  const token = createToken(server.settings);
  const link = `${server.url}${tablePath(story)}?${around}&c=${story.burst.snapshot_id}#runbook`;
  const login = async () => {
    await page.getByLabel('API token').fill(token);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
  };
  try {
    await page.goto(link);
    await expect(page).toHaveURL(/\/login\?next=/);
    await login();
    await expect(page).toHaveURL(link);
    await new TimelinePage(page).drawn();

    const next = page.getByRole('button', { name: 'Next commit' });
    await expect(next).toBeVisible();
    await page.context().clearCookies();
    // what asks first is refused: the commit, or what the page asks by itself; then the button is gone
    await next.click({ timeout: 5_000 }).catch(() => undefined);
    await expect(page).toHaveURL(/\/login\?next=/);
    await login();
    await expect(page).toHaveURL(new RegExp(`${tablePath(story)}\\?.*c=\\d+`));
    await new TimelinePage(page).drawn();
    // The browser itself notes a refused answer; nothing else may complain.
    expect(complaints.filter((text) => !/status of 401/.test(text))).toEqual([]);
    complaints.length = 0;
  } finally {
    await page.goto('about:blank');
    await server.stop();
  }
});

test('a login link logs in, works again, and leaves no token in the address', async ({
  page,
  complaints,
}) => {
  test.slow(); // it starts a server
  const server = await serve(withLogin);
  const link = (token: string) => `${server.url}/login/link?next=/alerts#${token}`;
  try {
    await page.goto(link(`lmn_${'0'.repeat(12)}_${'A'.repeat(43)}`));
    await expect(page.getByRole('alert')).toHaveText('invalid token');
    expect(complaints.splice(0).filter((text) => !/status of 401/.test(text))).toEqual([]);
    expect(page.url()).not.toContain('lmn_');

    const token = createToken(server.settings);
    for (const times of [1, 2]) {
      await page.goto('about:blank');
      await page.goto(link(token));
      await expect(page, `visit ${times}`).toHaveURL(/\/alerts#?$/);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    }
  } finally {
    await page.goto('about:blank');
    await server.stop();
  }
});
