import { expect, test } from 'vitest';
import { loginAddress, loginDoor, type Browser } from './login.ts';

const LINK = {
  pathname: '/t/lake/sales/a%2Fb',
  search: '?from=1&sel=1..2&c=5184430069070270604',
  hash: '#x=1',
};

function browser(now = 1_000_000) {
  const [kept, went] = [new Map<string, string>(), [] as string[]];
  const parts = {
    location: { ...LINK, assign: (address: string) => void went.push(address) },
    storage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    },
    now: () => clock.now,
  } satisfies Browser;
  const clock = { now };
  return { parts, went, clock };
}

test('path, query and fragment come back from the login as they were', () => {
  const next = new URL(loginAddress(LINK), 'http://here').searchParams.get('next');
  expect(next).toBe(LINK.pathname + LINK.search + LINK.hash);
});

test.each(['//evil.example/x', '/\\evil.example', 'javascript:alert(1)', ''])(
  'a path that is not plainly ours leads to the front page: %j',
  (pathname) => {
    const address = loginAddress({ pathname, search: '', hash: '' });
    expect(new URL(address, 'http://here').searchParams.get('next')).toBe('/');
  },
);

test('many refusals leave once', () => {
  const { parts, went } = browser();
  const leave = loginDoor(parts);
  for (let i = 0; i < 5; i += 1) leave();
  expect(went).toEqual([loginAddress(LINK)]);
});

test('a page that is refused right after the login stays and shows why; later it may leave again', () => {
  const { parts, went, clock } = browser();
  loginDoor(parts)();
  clock.now += 2_000;
  loginDoor(parts)();
  expect(went).toHaveLength(1);
  clock.now += 60_000;
  loginDoor(parts)();
  expect(went).toHaveLength(2);
});

test('without storage it stays: nothing would end a circle', () => {
  const { parts, went } = browser();
  const refuses = () => {
    throw new DOMException('denied', 'SecurityError');
  };
  loginDoor({ ...parts, storage: { getItem: refuses, setItem: refuses } })();
  expect(went).toEqual([]);
});
