// The one sentence that the page's persistent status region says. Errors belong beside what failed, never here.

let current = $state({ text: '', seen: false });
let hide: ReturnType<typeof setTimeout> | undefined;

/** What the status region reads: `seen` false means for assistive technology only. */
export const announcement = {
  get text() {
    return current.text;
  },
  get seen() {
    return current.seen;
  },
};

/** Says and shows a sentence for some seconds; `quietly` when the change can be seen anyway. */
export function announce(text: string, { quietly = false } = {}): void {
  clearTimeout(hide);
  current = { text, seen: !quietly };
  hide = setTimeout(() => (current = { text, seen: false }), 2600);
}
