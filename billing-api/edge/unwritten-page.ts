/** Records of a list that is written in one go: that takes a millisecond or less. */
const SHORT_LIST_MAX = 100;

/** Members that hold long lists: the records of a page, and the lines of an invoice. */
const LISTS = ['items', 'line_items'] as const;

/** An answer, or a part of it, with a list that is not written in one go. */
export type LongPage = {
  readonly page: Readonly<Record<string, unknown>>;
  /** The member that holds the list. */
  readonly list: (typeof LISTS)[number];
  readonly items: readonly unknown[];
};

/** The long list of an answer: one of many records, or one with a record that has a long list. */
export function longPageOf(answer: unknown): LongPage | null {
  if (typeof answer !== 'object' || answer === null) return null;
  // An object has members.
  const page = answer as Readonly<Record<string, unknown>>;
  for (const list of LISTS) {
    const held = page[list];
    if (!Array.isArray(held)) continue;
    const items: readonly unknown[] = held;
    const isLong = items.length > SHORT_LIST_MAX || items.some((item) => longPageOf(item) !== null);
    if (isLong) return { page, list, items };
  }
  return null;
}

/**
 * A long list whose items are completed while they are written, one by one: what is made for an
 * item is gone before the next one, so that no page is in memory twice.
 */
export class UnwrittenPage {
  constructor(
    readonly page: LongPage,
    /** An item as it is answered: an UnwrittenPage where it has a long list itself. */
    readonly complete: (item: unknown) => unknown,
  ) {}
}
