// The one stream of the application: open while the page is visible, its state for drawing and polling.
import { afterFirstAnswer } from '#lib/state/first-question.ts';
import { LiveStream, type LiveState } from './LiveStream.ts';
import { later } from './throttle.ts';

/** How often a page polls: with a stream, only in case an event was lost. */
const WITH_STREAM_MS = 60_000;
const WITHOUT_MS = 15_000;

let state = $state<LiveState>('off');
const stream = new LiveStream(
  { open: () => new EventSource('/api/v1/stream'), after: later, chance: Math.random },
  (next) => (state = next),
);

export const live = {
  get state(): LiveState {
    return state;
  },
  get pollMs(): number {
    return state === 'open' ? WITH_STREAM_MS : WITHOUT_MS;
  },
  on: stream.on.bind(stream),
  onBehind: stream.onBehind.bind(stream),
  /** Follows the page's visibility; the returned function closes the stream. */
  start(): () => void {
    const look = () => stream.look(document.visibilityState === 'visible');
    const cancel = afterFirstAnswer(look);
    document.addEventListener('visibilitychange', look);
    return () => {
      cancel();
      document.removeEventListener('visibilitychange', look);
      stream.stop();
    };
  },
};
