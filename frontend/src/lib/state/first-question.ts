// What a reader came for goes first: status and stream, which only surround it, wait until the page's own first questions
// are answered, or for a second when these take long.
const LONGEST_MS = 1_000;

let open = 0;
const waiting = new Set<() => void>();

/** A question whose answer the page is empty without; the returned function says that it is over. */
export function firstQuestion(): () => void {
  open += 1;
  return () => {
    open -= 1;
    if (open === 0) for (const proceed of waiting) proceed();
  };
}

/** True: no page waits for an answer without which it is empty. */
export const isAnswered = (): boolean => open === 0;

/** Calls back once no first question is open; the returned function cancels it. */
export function afterFirstAnswer(then: () => void): () => void {
  const cancel = () => {
    waiting.delete(proceed);
    clearTimeout(latest);
    clearTimeout(soon);
  };
  const proceed = () => {
    cancel();
    then();
  };
  const latest = setTimeout(proceed, LONGEST_MS);
  waiting.add(proceed);
  // a page that has no question of its own
  const soon = setTimeout(() => open === 0 && proceed());
  return cancel;
}
