import type { InstantMs } from '../../../contract/instant.js';
import type { CellQuery, CellQueryBatch } from './cell-query.js';
import { runsOf } from './window-parts.js';

/**
 * Queries that differ in their customers only are one kind, and share their branches. Many more
 * would make a statement that is too long (`STATEMENT_BYTES_MAX`).
 */
export const KINDS_PER_STATEMENT_MAX = 200;

/** Pairs of a query and a customer key. Each may be bound once for each of three branches. */
export const KEYS_PER_STATEMENT_MAX = 10_000;

/** Queries of a batch that are answered by one statement, from one index to before another. */
export type StatementPart = { readonly from: number; readonly to: number };

/** Tells kinds of queries apart. */
function kindsOf(bound: CellQueryBatch['bound']): (query: CellQuery) => string {
  const slotNames = new Map<readonly InstantMs[] | null, string>();
  const slotName = (slots: readonly InstantMs[] | null): string => {
    const name = slotNames.get(slots) ?? JSON.stringify(slots === null ? null : runsOf(slots));
    slotNames.set(slots, name);
    return name;
  };
  return (query) => {
    const { subject, window, narrowedBy, sources, slots, split, isFirstSlotOnly } = query;
    const events = [subject, narrowedBy, sources, bound?.eventsFrom.get(query) ?? null];
    return JSON.stringify([events, window, slotName(slots), split, isFirstSlotOnly]);
  };
}

/** The parts of a batch, in its order: as few statements as are safe. */
export function statementPartsOf({
  queries,
  bound,
}: Pick<CellQueryBatch, 'queries' | 'bound'>): readonly StatementPart[] {
  const [first] = queries;
  const isOfMany = queries.some(({ customers }) => customers !== first?.customers);
  const kindOf = isOfMany ? kindsOf(bound) : null;
  const parts: StatementPart[] = [];
  let from = 0;
  let keyCount = 0;
  let kinds = new Set<string | number>();
  for (const [index, query] of queries.entries()) {
    const kind = kindOf === null ? index : kindOf(query);
    const keys = isOfMany ? query.customers.keys.length : 0;
    const isFull = kinds.size >= KINDS_PER_STATEMENT_MAX && !kinds.has(kind);
    if (isFull || (index > from && keyCount + keys > KEYS_PER_STATEMENT_MAX)) {
      parts.push({ from, to: index });
      from = index;
      keyCount = 0;
      kinds = new Set();
    }
    kinds.add(kind);
    keyCount += keys;
  }
  return first === undefined ? [] : [...parts, { from, to: queries.length }];
}

/**
 * The server takes at most 131 072 bytes of text in one field of a form, and a statement with long
 * parameters travels in a form. All of its characters are ASCII.
 */
export const STATEMENT_BYTES_MAX = 120_000;

/** The statements of a batch, each as long as the server takes it. */
export function* statementsOf<Statement extends { readonly text: string }>(
  batch: Pick<CellQueryBatch, 'queries' | 'bound'>,
  write: (part: StatementPart) => Statement | null,
): Generator<Statement> {
  for (const part of statementPartsOf(batch)) yield* shortEnough(part, write);
}

function* shortEnough<Statement extends { readonly text: string }>(
  { from, to }: StatementPart,
  write: (part: StatementPart) => Statement | null,
): Generator<Statement> {
  const statement = write({ from, to });
  if (statement === null) return;
  if (statement.text.length <= STATEMENT_BYTES_MAX || to - from === 1) {
    yield statement;
    return;
  }
  const middle = from + Math.ceil((to - from) / 2);
  yield* shortEnough({ from, to: middle }, write);
  yield* shortEnough({ from: middle, to }, write);
}
