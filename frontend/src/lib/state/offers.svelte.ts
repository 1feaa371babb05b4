// What the open page lets keys and the palette do: move its time range, and commands of its own.
import { Registry } from './Registry.svelte.ts';
import type { Range, RangeText } from '#lib/time/range.ts';

export interface OfferedRange {
  /** As the address carries it, and resolved. */
  readonly text: RangeText;
  readonly range: Range;
  show(text: RangeText): void;
}

export interface OfferedCommand {
  readonly label: string;
  /** The key that does the same, where there is one. */
  readonly keys?: string;
  run(): void;
}

const ranges = new Registry<() => OfferedRange>();
const commands = new Registry<() => readonly OfferedCommand[]>();

export const offers = {
  /** Undefined: the page has no time range. */
  get range(): OfferedRange | undefined {
    return ranges.newest?.();
  },
  get commands(): readonly OfferedCommand[] {
    return commands.newest?.() ?? [];
  },
};

/** Call while a component initializes; the offer leaves with it. */
export function offerRange(of: () => OfferedRange): void {
  ranges.hold(() => of);
}

/** As `offerRange`. */
export function offerCommands(of: () => readonly OfferedCommand[]): void {
  commands.hold(() => of);
}
