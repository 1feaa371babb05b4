// The legend of a picture, as SVG text.
import { sayComparison } from '#lib/timeline/shapes/comparison.ts';
import { count } from '#lib/format/count.ts';
import { clockSeconds } from '#lib/format/instant.ts';
import { operationName } from '#lib/ui/operation.ts';
import type { Frame } from '#lib/timeline/shapes/frame.ts';
import { commitsOf, medianOf, type Answer } from '#lib/api/lanes.ts';
import { changeCount } from '#lib/timeline/shapes/marks.ts';
import { weightOf } from '#lib/timeline/shapes/path.ts';
import { element, glyph, LIGHT, short, UNREAD, words } from './picture-parts.ts';

/** Operations with their counts, the largest commit, what dashes and hatches mean. */
export function legend(answer: Answer, { scale, unreadFrom }: Frame, y: number): string {
  const inside = commitsOf(answer).filter(({ t }) => t >= scale.from && t <= scale.to);
  const counts = new Map<string | null, number>();
  for (const { operation } of inside) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  let x = 24;
  let out = '';
  const say = (text: string) => {
    out += words(x, y, text, { fill: LIGHT.muted });
    x += text.length * 6.6 + 18;
  };
  for (const [operation, times] of counts) {
    out += glyph(operation, x + 6, y - 4, 12);
    x += 16;
    say(`${short(operationName(operation), 24)} ${count(times)}`);
  }
  if (inside.some(({ expired }) => expired)) say('dotted: expired');
  if (answer.lanes.some(medianOf)) say('thin: median run');
  if (answer.cmp) say(`dashed: ${sayComparison(answer.cmp)}`);
  if (unreadFrom !== null) {
    const until = answer.watermark === null ? 'yet' : `after ${clockSeconds(answer.watermark)}`;
    out += element('rect', { x, y: y - 9, width: 14, height: 10, fill: UNREAD, stroke: LIGHT.unknown });
    x += 20;
    say(`metadata not read ${until}`);
  }
  const [first] = inside;
  if (first) {
    const top = inside.reduce((most, commit) => (weightOf(commit) > weightOf(most) ? commit : most), first);
    say(`largest: ${changeCount(top)} files at ${clockSeconds(top.t)}, snapshot ${top.snapshot_id}`);
  }
  return out;
}
