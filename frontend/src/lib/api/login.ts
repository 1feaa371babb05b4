// Where a browser goes that the server does not know (any more), and the way back: path, query and fragment, so that an
// alert link survives the login. The server checks the way back again; it is always a path of our own.

export interface Here {
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}

/** The login page, with the address to return to. */
export function loginAddress({ pathname, search, hash }: Here): string {
  const path = /^\/(?![/\\])/.test(pathname) ? pathname : '/';
  return `/login?next=${encodeURIComponent(path + search + hash)}`;
}

/** A login that comes back and is refused again within this time does not help: the refusal is shown instead. */
const PATIENCE_MS = 10_000;
const KEY = 'limnograph.login';

/** The parts of a browser that leaving needs. */
export interface Browser {
  readonly location: Here & { assign(address: string): void };
  readonly storage: Pick<Storage, 'getItem' | 'setItem'>;
  readonly now: () => number;
}

/** Leaves for the login once, however many requests are refused; never round and round. */
export function loginDoor(browser: Browser): () => void {
  let left = false;
  return () => {
    if (left) return;
    try {
      if (browser.now() - Number(browser.storage.getItem(KEY) ?? 0) < PATIENCE_MS) return;
      browser.storage.setItem(KEY, String(browser.now()));
    } catch {
      return; // without storage nothing would end a circle: the refusal is shown, with its own words
    }
    left = true;
    browser.location.assign(loginAddress(browser.location));
  };
}
