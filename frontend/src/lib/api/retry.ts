// A request that the server failed to answer is retried once before the failure is shown: most such failures are over
// within a moment. Only what changes nothing is repeated.

/** 501 stays so. */
const PASSING = new Set([500, 502, 503, 504]);
const PAUSE_MS = 300;
/** A server that demands a longer delay is reported at once: the reader decides whether to wait. */
const MOST_MS = 3_000;

/** As `fetch`. Rejects with the signal's reason when aborted, also during the pause. */
export async function fetchTwice(request: Request): Promise<Response> {
  const first = await fetch(request);
  if (request.method !== 'GET' || !PASSING.has(first.status)) return first;
  const pause = pauseOf(first.headers.get('retry-after'));
  if (pause > MOST_MS) return first;
  await first.body?.cancel();
  await new Promise<void>((resolve, reject) => {
    const { signal } = request;
    const stop = () => (clearTimeout(timer), reject(signal.reason as Error));
    const timer = setTimeout(() => (signal.removeEventListener('abort', stop), resolve()), pause);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
  });
  return fetch(request);
}

/** Milliseconds to wait; `Retry-After` carries seconds or a date (RFC 9110, section 10.2.3). */
export function pauseOf(retryAfter: string | null): number {
  if (!retryAfter) return PAUSE_MS;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(ms) ? PAUSE_MS : Math.max(PAUSE_MS, ms);
}
