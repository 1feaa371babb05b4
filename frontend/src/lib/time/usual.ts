// The range of a page whose address names none: the product's, unless the reader prefers another. It stays out of the
// address.
import { DEFAULT_RANGE, type RangeText } from './range.ts';

let usual: RangeText = DEFAULT_RANGE;

export const usualRange = (): RangeText => usual;

export function setUsualRange(range: RangeText): void {
  usual = range;
}
