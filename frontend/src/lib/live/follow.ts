// A page that follows events: it reloads when the stream reports something, when it may have lost something, and
// now and then while it is visible. Call in an effect: how often depends on the stream's state.
import { live } from './live.svelte.ts';
import type { ThrottledCall } from './throttle.ts';

/** `heard`: ends of what the page listens to. `polls`: whether the clock alone makes it ask. Returns what ends it all. */
export function follow(refresh: ThrottledCall, heard: (() => void)[], polls = () => true): () => void {
  const ends = [...heard, live.onBehind(refresh)];
  const tick = setInterval(() => {
    if (polls() && document.visibilityState === 'visible') refresh();
  }, live.pollMs);
  return () => {
    clearInterval(tick);
    for (const end of ends) end();
    refresh.cancel();
  };
}
