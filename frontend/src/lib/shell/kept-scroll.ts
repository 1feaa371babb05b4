// Back and Forward lead to where one was on a page. Its data come later than the page, so that it is kept as high as when
// it was left, and scrolled there, until they are drawn or the reader scrolls.
import '../../styles/print.css'; // with it, because nothing is printed before it is on screen

/** How long a page may take to be as high again, ms. */
const PATIENCE_MS = 5_000;
const STEP_MS = 50;
/** From then on the page is the one of the address, also if it is the same component. */
const SWAPPED_MS = 400;
/** Pixels of a page that has changed meanwhile. */
const ABOUT_PX = 100;

interface Left {
  readonly y: number;
  /** Of the page's content. */
  readonly height: number;
}

/** Once, for as long as the dashboard is open. */
export function keepScroll(main: HTMLElement): void {
  const left = new Map<string, Left>();
  let timer: ReturnType<typeof setInterval> | undefined;

  const release = () => {
    clearInterval(timer);
    Object.assign(main.style, { minHeight: '', alignContent: '' });
  };
  addEventListener('scroll', () => left.set(location.href, { y: scrollY, height: main.offsetHeight }), {
    passive: true,
  });
  for (const hand of ['wheel', 'touchstart', 'pointerdown', 'keydown'])
    addEventListener(hand, release, { passive: true });
  // before the page of the address is drawn
  addEventListener(
    'popstate',
    () => {
      release();
      const there = left.get(location.href);
      if (!there) return;
      // its rows keep their own height
      Object.assign(main.style, { minHeight: `${there.height}px`, alignContent: 'start' });
      const begun = performance.now();
      const before = main.firstElementChild;
      timer = setInterval(() => {
        scrollTo(0, there.y);
        const last = main.lastElementChild?.getBoundingClientRect().bottom ?? 0;
        const drawn = last - main.getBoundingClientRect().top;
        const waited = performance.now() - begun;
        const swapped = main.firstElementChild !== before || waited > SWAPPED_MS;
        if ((swapped && drawn >= there.height - ABOUT_PX) || waited > PATIENCE_MS) release();
      }, STEP_MS);
    },
    { capture: true },
  );
}
