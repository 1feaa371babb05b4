// The same numbers for both pages.
export const NOW = Date.parse('2026-11-21T06:00:00Z');

/** Deterministic noise around a level that jumps once. */
export function series(seed: number, points: number): number[] {
  let state = seed * 7919 + 17;
  return Array.from({ length: points }, (_, i) => {
    state = (state * 48_271) % 2_147_483_647;
    return (i < points / 2 ? 1_202 : 51_202) + (state % 900);
  });
}
