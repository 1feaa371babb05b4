// What a page showed stays in view, as a copy that cannot be operated, until the page that follows it has something of its
// own to show. The frame around it is that of the new page at once.
import './kept-page.css';
import { isAnswered } from '#lib/state/first-question.ts';

/** Drawn while a page waits: headings, notices, skeletons. */
const MEANWHILE = 'h1, header, .notice, [aria-busy=true], .skel, :has([aria-busy=true], .skel)';
const shows = (part: Element) => !part.matches(MEANWHILE) && part.textContent.trim() !== '';

/**
 * Call before the page in `main` gives way to another; then call the returned function once that one is in its place.
 */
export function keepPage(main: HTMLElement): () => void {
  const copy = copyOf(main);
  document.body.append(copy);
  scrollAlike(main, copy.firstElementChild as HTMLElement);
  return () => {
    const isReady = () => isAnswered() || [...main.children].some(shows);
    const watch = new MutationObserver(() => isReady() && reveal());
    const reveal = () => {
      watch.disconnect();
      copy.remove();
    };
    // the reader went on before the page had come
    for (const older of document.querySelectorAll('.kept')) if (older !== copy) older.remove();
    if (isReady()) return reveal();
    watch.observe(main, { childList: true, subtree: true, attributeFilter: ['aria-busy'] });
  };
}

function copyOf(main: HTMLElement): HTMLElement {
  const inner = main.cloneNode(true) as HTMLElement;
  for (const name of ['id', 'tabindex']) inner.removeAttribute(name);
  inner.inert = true;
  const { top, left, width } = main.getBoundingClientRect();
  Object.assign(inner.style, { top: `${top}px`, left: `${left}px`, width: `${width}px`, minHeight: '' });
  const copy = document.createElement('div');
  copy.className = 'kept';
  copy.ariaHidden = 'true';
  copy.append(inner);
  return copy;
}

/** Blocks that scroll by themselves are where they were. */
function scrollAlike(from: HTMLElement, to: HTMLElement): void {
  const copies = to.querySelectorAll('*');
  for (const [i, { scrollLeft, scrollTop }] of from.querySelectorAll('*').entries())
    if (scrollLeft || scrollTop) Object.assign(copies[i] as Element, { scrollLeft, scrollTop });
}
