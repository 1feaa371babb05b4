// The mouse, the pen and the finger over the lanes, in pixels of the plot, for what navigation does with them.
import type { Navigation } from './navigation.ts';
import type { TimeScale } from '#lib/timeline/axes/scale.ts';

const within = (event: Event, selector: string) =>
  event.target instanceof Element && event.target.closest(selector) !== null;
export const onControl = (event: Event) => within(event, 'button, a, [role=dialog], [role=toolbar]');
export const inPanel = (event: Event) => within(event, '[role=dialog]');

export class Pointer {
  #left = 0;

  constructor(
    readonly navigation: Navigation,
    readonly scale: () => TimeScale,
    /** The time cursor's handle: it has the focus afterwards, and it is in the plot. */
    readonly thumb: () => HTMLElement | undefined,
  ) {}

  readonly pxOf = (event: MouseEvent) => event.clientX - this.#left;

  /** Once a gesture and width: reading the layout on every move would be slow. */
  readonly measure = () => {
    const plot = this.thumb()?.parentElement;
    // on a phone it has no border
    this.#left = plot ? plot.getBoundingClientRect().left + plot.clientLeft : 0;
  };

  readonly move = (event: PointerEvent) => {
    const px = this.pxOf(event);
    this.navigation.drag(px);
    if (event.pointerType === 'touch') return;
    const outside = inPanel(event) || px < 0 || px > this.scale().width;
    this.navigation.cursor.hover = outside ? null : this.scale().at(px);
  };

  readonly down = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    this.measure();
    const px = this.pxOf(event);
    if (event.button !== 0 || onControl(event) || px < 0 || px > this.scale().width) return;
    if (event.pointerType !== 'touch') {
      event.preventDefault();
      event.currentTarget.setPointerCapture(event.pointerId);
      this.thumb()?.focus({ preventScroll: true });
    }
    if (event.shiftKey) this.navigation.hold(px);
    else this.navigation.press(px);
  };

  readonly up = (event: PointerEvent) =>
    this.navigation.release(this.pxOf(event), event.pointerType === 'touch');

  readonly wheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.measure();
    this.navigation.zoomAround(this.scale().at(this.pxOf(event)), event.deltaY > 0 ? 1.25 : 0.8, true);
  };
}
