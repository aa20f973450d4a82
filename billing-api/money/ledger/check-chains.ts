import { createHash } from 'node:crypto';
import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, plain, sumOf } from '../../../contract/number/decimal.js';
import { groupBy } from '../../../runtime/group-by.js';
import { instantColumn, integerColumn, numericColumn } from '../../../sql/columns.js';
import { groupText } from '../../domain/ledger/group-text.js';
import { ACCOUNTS } from '../../domain/ledger/postings.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
import type { ReadUnit } from '../../records/unit.js';
import { problemOf, type BooksProblemDto } from './books-dto.js';

const headRow = z.object({
  customer_id: z.string(),
  last_position: integerColumn,
  last_hash: z.string(),
});
const groupRow = z.object({
  id: z.string(),
  customer_id: z.string(),
  position: integerColumn,
  kind: z.string(),
  entity_type: z.string(),
  entity_id: z.string(),
  occurrence: z.number().int(),
  currency: z.string(),
  posted_at: instantColumn,
  hash: z.string(),
});
const postingRow = z.object({
  group_id: z.string(),
  account: z.enum(ACCOUNTS),
  wallet_id: z.string().nullable(),
  amount: numericColumn.transform(decimalOf),
});
type Group = z.output<typeof groupRow>;
type Posting = z.output<typeof postingRow>;

/** The problems of one movement whose hash follows from the one before. */
function problemsOfGroup(
  group: Group,
  postings: readonly Posting[],
  before: { readonly hash: string; readonly position: number },
): readonly BooksProblemDto[] {
  const sum = sumOf(postings.map(({ amount }) => amount));
  const text = groupText(group.id, {
    customerId: group.customer_id,
    kind: group.kind,
    currency: group.currency,
    entityType: group.entity_type,
    entityId: group.entity_id,
    occurrence: group.occurrence,
    postedAt: group.posted_at,
    postings: postings.map((one) => ({ ...one, walletId: one.wallet_id })),
  });
  const hash = createHash('sha256')
    .update([before.hash, String(before.position + 1), text].join('\n'))
    .digest('hex');
  const problem = (found: string): BooksProblemDto => problemOf('movement', group.id, found);
  return [
    ...(sum.isZero() ? [] : [problem(`its postings add up to ${plain(sum)}, not to 0`)]),
    ...(group.position === before.position + 1
      ? []
      : [problem(`movements before it are missing: it is number ${group.position}`)]),
    ...(hash === group.hash ? [] : [problem('it or a movement before it was altered')]),
  ];
}

/** The last movement of a chain, as far as it was read. */
type Reached = { readonly customerId: string; readonly position: number; readonly hash: string };

/** The movements behind one, in the order of their customers. */
function readMovements(
  { tx }: ReadUnit,
  behind: Reached | null,
  count: number,
): Promise<readonly Group[]> {
  const place =
    behind === null
      ? sql.fragment`TRUE`
      : sql.fragment`(customer_id, position) > (${behind.customerId}, ${behind.position}::bigint)`;
  return tx.any(sql.type(groupRow)`
    SELECT id, customer_id, position, kind, entity_type, entity_id, occurrence, currency, posted_at, hash
    FROM ledger_groups WHERE ${place} AND ${isOfEnvironment}
    ORDER BY customer_id, position LIMIT ${count}`);
}

/** Chains that end otherwise than their heads say. */
async function problemsOfEnds(
  { tx }: ReadUnit,
  ends: readonly Reached[],
): Promise<readonly BooksProblemDto[]> {
  const ids = sql.array(
    ends.map(({ customerId }) => customerId),
    'text',
  );
  const heads = await tx.any(sql.type(headRow)`
    SELECT customer_id, last_position, last_hash FROM ledger_heads
    WHERE customer_id = ANY (${ids}) AND ${isOfEnvironment}`);
  const headOf = new Map(heads.map((head) => [head.customer_id, head]));
  return ends.flatMap(({ customerId, position, hash }) => {
    const head = headOf.get(customerId);
    if (head === undefined)
      return [problemOf('customer', customerId, 'its movements have no head')];
    const isWhole = head.last_position === position && head.last_hash === hash;
    return isWhole
      ? []
      : [problemOf('customer', customerId, 'its last movements are gone or altered')];
  });
}

const customerRow = z.object({ customer_id: z.string() });

/** Customers of whom the head alone is there. */
async function problemsOfEmpty({ tx }: ReadUnit): Promise<readonly BooksProblemDto[]> {
  const rows = await tx.any(sql.type(customerRow)`
    SELECT head.customer_id FROM ledger_heads AS head
    WHERE NOT EXISTS (SELECT FROM ledger_groups AS movement
        WHERE movement.customer_id = head.customer_id AND ${rowIsOfEnvironment('movement')})
      AND head.last_position > 0 AND ${rowIsOfEnvironment('head')}
    ORDER BY head.customer_id LIMIT 1000`);
  return rows.map(({ customer_id: id }) =>
    problemOf('customer', id, 'all of its movements are gone'),
  );
}

/** Some movements of the chains, and where they end. */
export type CheckedPage = {
  readonly movements: number;
  readonly problems: readonly BooksProblemDto[];
  /** The last customer whose movements have all been read; null when that is not known. */
  readonly doneUpTo: string | null;
};

/** Computes the hashes of some movements that follow those before, also within one customer. */
function checkMovements(
  groups: readonly Group[],
  postings: readonly Posting[],
  before: Reached | null,
): { problems: BooksProblemDto[]; ends: Reached[]; reached: Reached | null } {
  const postingsOf = groupBy(postings, ({ group_id: id }) => id);
  const [problems, ends]: [BooksProblemDto[], Reached[]] = [[], []];
  let reached = before;
  for (const group of groups) {
    if (reached !== null && reached.customerId !== group.customer_id) {
      ends.push(reached);
      reached = null;
    }
    // Absent means none: the postings of the movement are gone, which its hash tells.
    const own = postingsOf.get(group.id) ?? [];
    problems.push(...problemsOfGroup(group, own, reached ?? { hash: '', position: 0 }));
    reached = { customerId: group.customer_id, position: group.position, hash: group.hash };
  }
  return { problems, ends, reached };
}

/**
 * Computes the chains of all customers again, some movements at a time, so that no statement and no
 * turn of the program takes long however many there are.
 */
export async function* checkChains(unit: ReadUnit, count: number): AsyncGenerator<CheckedPage> {
  let reached: Reached | null = null;
  for (;;) {
    const groups: readonly Group[] = await readMovements(unit, reached, count);
    const ids = sql.array(
      groups.map(({ id }) => id),
      'text',
    );
    const postings = await unit.tx.any(sql.type(postingRow)`
      SELECT group_id, account, wallet_id, amount FROM ledger_postings
      WHERE group_id = ANY (${ids}) AND ${isOfEnvironment} ORDER BY group_id, position`);
    const checked = checkMovements(groups, postings, reached);
    reached = checked.reached;
    const isEnd = groups.length < count;
    const ends = isEnd && reached !== null ? [...checked.ends, reached] : checked.ends;
    const problems = [...checked.problems, ...(await problemsOfEnds(unit, ends))];
    const doneUpTo = ends.at(-1)?.customerId ?? null;
    yield { movements: groups.length, problems, doneUpTo };
    if (isEnd) break;
  }
  const problems = await problemsOfEmpty(unit);
  yield { movements: 0, problems, doneUpTo: null };
}
