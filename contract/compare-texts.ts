/** Order of two texts by code units, the same on every machine: negative, 0 or positive. */
export function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
