// Selecting a span by dragging: a state machine over pixels, without a DOM. Edges snap to the step.
import { snapTo } from '#lib/time/step.ts';

/** A press that moves less is a click. */
const DRAG_PX = 6;
/** Half of a handle: 24 px to grab. */
const HANDLE_PX = 12;

export type Span = readonly [from: number, to: number];

export interface Ground {
  readonly from: number;
  readonly to: number;
  /** Seconds. */
  readonly step: number;
  readonly px: (at: number) => number;
  readonly at: (px: number) => number;
}

interface Press {
  readonly originPx: number;
  /** The selection when pressed. */
  readonly before: Span | null;
  readonly moved: boolean;
}
export type Brush =
  | { readonly mode: 'idle' }
  | ({ readonly mode: 'create' } & Press)
  | ({ readonly mode: 'move'; readonly before: Span } & Press)
  | ({ readonly mode: 'resize'; readonly before: Span; readonly edge: 0 | 1 } & Press);

export const IDLE: Brush = { mode: 'idle' };

/** What a press at `px` grabs: an edge, the body of the selection, or nothing yet. */
export function press(px: number, selection: Span | null, ground: Ground): Brush {
  const start = { originPx: px, moved: false } as const;
  if (!selection) return { mode: 'create', before: null, ...start };
  const [left, right] = [ground.px(selection[0]), ground.px(selection[1])];
  const near = (edge: number) => Math.abs(px - edge) <= HANDLE_PX;
  if (near(left) || near(right)) {
    const edge = Math.abs(px - left) < Math.abs(px - right) ? 0 : 1;
    return { mode: 'resize', before: selection, edge, ...start };
  }
  const inside = px > left && px < right;
  return { mode: inside ? 'move' : 'create', before: selection, ...start };
}

export interface DragResult {
  readonly brush: Brush;
  readonly selection: Span | null;
}

/** The selection while the pointer is at `px`. */
export function drag(brush: Brush, px: number, ground: Ground): DragResult {
  if (brush.mode === 'idle') return { brush, selection: null };
  if (!brush.moved && Math.abs(px - brush.originPx) < DRAG_PX) return { brush, selection: brush.before };
  return { brush: { ...brush, moved: true }, selection: spanOf(brush, px, ground) };
}

function spanOf(brush: Exclude<Brush, { mode: 'idle' }>, px: number, ground: Ground): Span | null {
  if (brush.mode === 'move') return moveSpan(brush.before, ground.at(px) - ground.at(brush.originPx), ground);
  const fixed = brush.mode === 'resize' ? brush.before[1 - brush.edge] : ground.at(brush.originPx);
  return between(fixed as number, ground.at(px), ground);
}

/** Two instants in order, snapped and inside the ground; null when they fall on one step. */
export function between(one: number, other: number, { from, to, step }: Ground): Span | null {
  const inside = (at: number) => Math.min(to, Math.max(from, snapTo(at, step)));
  const [a, b] = [inside(Math.min(one, other)), inside(Math.max(one, other))];
  return a < b ? [a, b] : null;
}

function moveSpan([start, end]: Span, by: number, { from, to, step }: Ground): Span {
  const width = end - start;
  const left = Math.min(to - width, Math.max(from, snapTo(start + by, step)));
  return [left, left + width];
}

/** What remains when the pointer is let go: a selection, or the instant that was clicked (snapped). */
export function release(
  brush: Brush,
  px: number,
  ground: Ground,
): { selection: Span | null; clicked: number | null } {
  if (brush.mode === 'idle') return { selection: null, clicked: null };
  if (!brush.moved) return { selection: brush.before, clicked: snapTo(ground.at(px), ground.step) };
  return { selection: spanOf(brush, px, ground), clicked: null };
}
