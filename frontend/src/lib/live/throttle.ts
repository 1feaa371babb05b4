// Many reasons to ask again, few questions: at once when it has been quiet, else when the gap is over.

export interface ThrottledCall {
  (): void;
  /** Forgets what waits. */
  cancel(): void;
}

/** Runs `run` at most once every `gapMs`; a call within the gap runs it at the gap's end, once. */
export function throttle(
  run: () => void,
  gapMs: number,
  { now = Date.now, after = later }: { now?: () => number; after?: typeof later } = {},
): ThrottledCall {
  let [last, stop] = [-Infinity, undefined as (() => void) | undefined];
  const go = () => {
    [last, stop] = [now(), undefined];
    run();
  };
  const throttled = () => {
    if (stop) return;
    const wait = last + gapMs - now();
    if (wait <= 0) go();
    else stop = after(wait, go);
  };
  throttled.cancel = () => {
    stop?.();
    stop = undefined;
  };
  return throttled;
}

/** `setTimeout` as a function that returns what cancels it. */
export function later(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
}
