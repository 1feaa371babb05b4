// What the open page lets keys and the palette do: move its time range, and commands of its own.
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

let range = $state.raw<(() => OfferedRange) | undefined>();
let commands = $state.raw<(() => readonly OfferedCommand[]) | undefined>();

export const offers = {
  /** Undefined: the page has no time range. */
  get range(): OfferedRange | undefined {
    return range?.();
  },
  get commands(): readonly OfferedCommand[] {
    return commands?.() ?? [];
  },
};

/** Call while a component initialises; the offer leaves with it. */
export function offerRange(of: () => OfferedRange): void {
  $effect.pre(() => {
    range = of;
    return () => {
      if (range === of) range = undefined;
    };
  });
}

/** As `offerRange`. */
export function offerCommands(of: () => readonly OfferedCommand[]): void {
  $effect.pre(() => {
    commands = of;
    return () => {
      if (commands === of) commands = undefined;
    };
  });
}
