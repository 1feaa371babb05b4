// The page of one finding: its request, and when it is repeated. Draws nothing.
import { findingPath } from '#lib/api/names.ts';
import { page } from '$app/state';
import { getFinding, type Schemas } from '#lib/api/client.ts';
import { follow } from '#lib/live/follow.ts';
import { live } from '#lib/live/live.svelte.ts';
import { throttle } from '#lib/live/throttle.ts';
import { zone } from '#lib/preferences/zone.svelte.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';

const REFRESH_MS = 2_000;

export class FindingView {
  readonly detail = new Resource<Schemas['FindingDetail']>();
  /** Epoch ms from which ages are counted: of the newest request. */
  now = $state(Date.now());
  readonly #id: () => string;

  /** `id`: of the finding that the address names. Made while its component is, with whose end it ends. */
  constructor(id: () => string) {
    this.#id = id;
    $effect(() => {
      void id();
      this.detail.clear();
      this.ask();
      return () => this.detail.stop();
    });
    const refresh = throttle(() => {
      if (this.detail.pending) return refresh();
      this.now = Date.now();
      this.ask();
    }, REFRESH_MS);
    $effect(() => {
      const shown = id();
      return follow(refresh, [live.on('finding', ({ finding_id: moved }) => moved === shown && refresh())]);
    });
  }

  ask(): void {
    const id = this.#id();
    void this.detail.ask((signal) => getFinding(id, signal));
  }

  /** This page, in the zone that is shown. */
  get link(): string {
    const link = new URL(findingPath(this.#id()), page.url.origin);
    link.searchParams.set('tz', zone.name);
    return link.href;
  }
}
