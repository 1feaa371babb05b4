// The alert that an address names: which bar is its own, and the window that shows it.
import { getAlert } from '#lib/api/client.ts';
import { nameOf } from '#lib/alerts/words.ts';
import { absolute, type RangeText } from '#lib/time/range.ts';

export interface AlertFocus {
  /** Of its bar in the lane of alerts. */
  readonly bar: { readonly label: string; readonly start: number };
  readonly window: RangeText;
}

/** Its newest episode. Throws ApiProblem where nobody knows it. */
export async function findAlert(fingerprint: string, signal: AbortSignal): Promise<AlertFocus> {
  const { alert, window } = await getAlert(fingerprint, null, signal);
  return {
    bar: { label: nameOf(alert), start: alert.starts_at },
    window: window.to === null ? { from: String(window.from), to: 'now' } : absolute(window.from, window.to),
  };
}
