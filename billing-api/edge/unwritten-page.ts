/** Records of a list that is written in one go: that takes a millisecond or less. */
const SHORT_LIST_MAX = 100;

/** A page with so many items that they are not written in one go. */
export type LongPage = Readonly<Record<string, unknown>> & { readonly items: readonly unknown[] };

export function isLongPage(answer: unknown): answer is LongPage {
  if (typeof answer !== 'object' || answer === null || !('items' in answer)) return false;
  return Array.isArray(answer.items) && answer.items.length > SHORT_LIST_MAX;
}

/**
 * A long page whose items are completed while they are written, one by one: what is made for an
 * item is gone before the next one, so that no page is in memory twice.
 */
export class UnwrittenPage {
  constructor(
    readonly page: LongPage,
    readonly complete: (item: unknown) => unknown,
  ) {}
}
