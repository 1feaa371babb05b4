// The page of forecasts: its request, and when it is repeated. Draws nothing.
import type { Schemas } from '#lib/api/client.ts';
import { ListView } from '#lib/page/ListView.svelte.ts';
import { listForecasts } from './api.ts';
import {
  choiceOf,
  cursorHref,
  forecastsHref,
  forecastsQuestion,
  unreadOf,
  type ForecastsChoice,
} from './question.ts';

/** Forecasts are made daily: nothing changes within seconds. */
const REFRESH_MS = 60_000;

export class ForecastsView extends ListView<Schemas['ForecastsPage'], ForecastsChoice> {
  constructor() {
    super({ choiceOf, unreadOf, hrefOf: forecastsHref, cursorHref }, 'finding', REFRESH_MS);
  }

  ask(): void {
    const question = forecastsQuestion(this.choice, this.cursor);
    void this.list.ask((signal) => listForecasts(question, signal));
  }
}
