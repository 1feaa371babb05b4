// Keys of a list whose rows are links: Up, Down, Home and End move between rows.
const STEPS: Record<string, (i: number, last: number) => number> = {
  ArrowDown: (i, last) => Math.min(last, i + 1),
  ArrowUp: (i) => Math.max(0, i - 1),
  Home: () => 0,
  End: (_, last) => last,
};

/** A `keydown` handler of the list; each row is an `li`, whose first link gets the focus. */
export function moveBetweenRows(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = STEPS[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  // a row without a page of its own has nothing to focus
  const items = [...event.currentTarget.querySelectorAll('li')].filter((item) => item.querySelector('a'));
  const here = items.findIndex((item) => item.contains(document.activeElement));
  if (here < 0) return;
  event.preventDefault();
  items[step(here, items.length - 1)]?.querySelector('a')?.focus();
}
