// The server's status, polled every 15 s while the page is visible, and when a source starts or stops responding.
// One for the whole application.
import { getStatus, type Schemas } from '#lib/api/client.ts';
import { live } from './live.svelte.ts';
import { afterFirstAnswer } from '#lib/state/first-question.ts';
import { Resource } from '#lib/state/Resource.svelte.ts';
import { keepHours } from '#lib/time/step.ts';

const EVERY_MS = 15_000;

class StatusFeed {
  readonly resource = new Resource<Schemas['Status']>();
  /** Set when the newest answer came: ages in it count from here. */
  answeredAt = $state<number | undefined>();

  get status(): Schemas['Status'] | undefined {
    return this.resource.data;
  }

  async refresh(): Promise<void> {
    await this.resource.ask(getStatus);
    if (this.resource.problem === undefined) this.answeredAt = Date.now();
    if (this.status) keepHours(this.status.hourly_days);
  }

  /** Starts polling; the returned function stops it. */
  start(): () => void {
    const ask = () => void this.refresh();
    const cancel = afterFirstAnswer(ask);
    const heard = [live.on('sources', ask), live.onBehind(ask)];
    const refresh = setInterval(() => {
      if (document.visibilityState === 'visible') void this.refresh();
    }, EVERY_MS);
    return () => {
      cancel();
      clearInterval(refresh);
      for (const end of heard) end();
      this.resource.stop();
    };
  }
}

export const statusFeed = new StatusFeed();
