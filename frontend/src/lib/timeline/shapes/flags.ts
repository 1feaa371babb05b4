// Flags in the lane of commits: where a ref was made, removed or set to an older commit.
import type { Schemas } from '#lib/api/client.ts';
import { clockSeconds } from '#lib/format/instant.ts';
import type { TimeScale } from '#lib/timeline/axes/scale.ts';

type RefFlag = Schemas['RefFlag'];

export interface PlacedFlag {
  readonly px: number;
  /** The ref's name where it has room; else empty. */
  readonly name: string;
  readonly said: string;
}

const CHAR_PX = 6.6;
const POLE_PX = 14;

export function flagText({ t, ref, type, snapshot_id: to }: RefFlag): string {
  const what =
    to === null ? `${type} ${ref} removed` : ref === 'main' ? 'main rolled back' : `${type} ${ref} set`;
  return `${what} at ${clockSeconds(t)}`;
}

/** Those inside the scale; a name that would run into the next flag is left out. */
export function placedFlags(flags: readonly RefFlag[], { from, to, px, width }: TimeScale): PlacedFlag[] {
  const inside = flags.filter(({ t }) => t >= from && t <= to);
  return inside.map((flag, i) => {
    const here = px(flag.t);
    const next = inside[i + 1];
    const room = (next ? px(next.t) : width) - here - POLE_PX;
    return { px: here, name: flag.ref.length * CHAR_PX <= room ? flag.ref : '', said: flagText(flag) };
  });
}
