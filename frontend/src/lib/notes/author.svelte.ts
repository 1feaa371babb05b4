// Who writes notes: the authenticated caller, else a name that is kept in this browser.
import { statusFeed } from '#lib/live/StatusFeed.svelte.ts';

const KEY = 'limnograph.author';

function stored(): string {
  try {
    return localStorage.getItem(KEY) ?? '';
  } catch {
    return ''; // storage is switched off
  }
}

let typed = $state(stored());

export const author = {
  /** Whether notes may be written; true until the server's status is known. */
  get may(): boolean {
    return statusFeed.status?.scopes?.includes('annotate') !== false;
  },
  /** Whether the server knows the caller, so that no name is asked for. */
  get known(): boolean {
    return Boolean(statusFeed.status?.user);
  },
  get typed(): string {
    return typed;
  },
  set typed(name: string) {
    typed = name;
    try {
      localStorage.setItem(KEY, name);
    } catch {
      // it lasts as long as this page
    }
  },
  /** The name to send; null: the server has a better one. */
  get name(): string | null {
    return this.known || !typed.trim() ? null : typed.trim();
  },
};
