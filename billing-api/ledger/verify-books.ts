import { createHash } from 'node:crypto';
import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, plain, sumOf } from '../../contract/decimal.js';
import { groupBy } from '../../runtime/group-by.js';
import { instantColumn, integerColumn, numericColumn } from '../../sql/columns.js';
import { groupText } from '../domain/ledger/group-text.js';
import { ACCOUNTS } from '../domain/ledger/postings.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../records/conditions.js';
import type { Occasion } from '../records/occasion.js';
import { readUnit, type ReadDependencies, type ReadUnit } from '../records/unit.js';

/** Something in the books that is not as it was posted. */
export interface BooksProblemDto {
  /** The record, or the movement, that is wrong. */
  entity_type: string;
  entity_id: string;
  problem: string;
}

export interface BooksDto {
  /** Movements whose hashes were computed again. @isInt */
  movements: number;
  /** Invoices, payments, credit notes and wallets that were compared. @isInt */
  records: number;
  problems: BooksProblemDto[];
}

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

const CUSTOMERS_AT_ONCE = 100;

function problemOf(type: string, id: string, problem: string): BooksProblemDto {
  return { entity_type: type, entity_id: id, problem };
}

/** The problems of one movement whose hash follows from the one before. */
function problemsOfGroup(
  group: Group,
  postings: readonly Posting[],
  before: { readonly hash: string; readonly position: number },
): readonly BooksProblemDto[] {
  const sum = sumOf(postings.map(({ amount }) => amount));
  const text = groupText(group.id, {
    ...{ customerId: group.customer_id, kind: group.kind, currency: group.currency },
    ...{ entityType: group.entity_type, entityId: group.entity_id },
    ...{ occurrence: group.occurrence, postedAt: group.posted_at },
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

async function checkChains(
  { tx }: ReadUnit,
  heads: readonly z.output<typeof headRow>[],
): Promise<{ readonly movements: number; readonly problems: readonly BooksProblemDto[] }> {
  const ids = sql.array(
    heads.map(({ customer_id: id }) => id),
    'text',
  );
  const groups = await tx.any(sql.type(groupRow)`
    SELECT * FROM ledger_groups WHERE customer_id = ANY (${ids}) AND ${isOfEnvironment}
    ORDER BY customer_id, position`);
  const postings = await tx.any(sql.type(postingRow)`
    SELECT group_id, account, wallet_id, amount FROM ledger_postings
    WHERE customer_id = ANY (${ids}) AND ${isOfEnvironment} ORDER BY group_id, position`);
  const postingsOf = groupBy(postings, ({ group_id: id }) => id);
  const groupsOf = groupBy(groups, ({ customer_id: id }) => id);
  const problems = heads.flatMap((head) => {
    let before = { hash: '', position: 0 };
    // Absent means none: all movements of the customer are gone, which the head tells.
    const own = groupsOf.get(head.customer_id) ?? [];
    const found = own.flatMap((group) => {
      // Absent means none: the postings of the movement are gone, which its hash tells.
      const found = problemsOfGroup(group, postingsOf.get(group.id) ?? [], before);
      before = { hash: group.hash, position: group.position };
      return found;
    });
    const isWhole = before.position === head.last_position && before.hash === head.last_hash;
    const lost = problemOf('customer', head.customer_id, 'its last movements are gone or altered');
    return isWhole ? found : [...found, lost];
  });
  return { movements: groups.length, problems };
}

const differenceRow = z.object({
  entity_type: z.string(),
  entity_id: z.string(),
  member: z.string(),
  stored: numericColumn,
  posted: numericColumn,
});

/**
 * Records whose sums are not what their postings add up to. Postings are added up once for each
 * record and then joined, because looking them up for each record takes the square of their number.
 */
async function findDifferences({ tx }: ReadUnit): Promise<readonly BooksProblemDto[]> {
  const rows = await tx.any(sql.type(differenceRow)`
    WITH posted AS MATERIALIZED (
      SELECT movement.kind, posting.entity_id, posting.customer_id, posting.wallet_id, posting.currency, posting.account,
        sum(posting.amount) AS amount
      FROM ledger_postings AS posting
      JOIN ledger_groups AS movement ON movement.id = posting.group_id AND ${rowIsOfEnvironment('movement')}
      WHERE ${rowIsOfEnvironment('posting')} GROUP BY 1, 2, 3, 4, 5, 6
    ), compared AS (
      SELECT 'invoice' AS entity_type, invoice.id AS entity_id, 'total' AS member, invoice.total AS stored,
        coalesce(found.amount, 0) AS posted
      FROM invoices AS invoice
      LEFT JOIN (SELECT entity_id, sum(amount) AS amount FROM posted
        WHERE kind = 'invoice.finalized' AND account = 'receivable' GROUP BY entity_id) AS found ON found.entity_id = invoice.id
      WHERE invoice.finalized_at IS NOT NULL AND ${rowIsOfEnvironment('invoice')}
      UNION ALL
      SELECT 'customer', open.customer_id, 'amount_remaining less overpaid_amount in ' || open.currency, open.amount,
        coalesce(found.amount, 0)
      FROM (SELECT invoice.customer_id, invoice.currency, sum(CASE WHEN invoice.invoice_status = 'FINALIZED'
          THEN invoice.amount_due - invoice.amount_paid ELSE 0 END) AS amount
        FROM invoices AS invoice WHERE ${rowIsOfEnvironment('invoice')}
        GROUP BY invoice.customer_id, invoice.currency) AS open
      LEFT JOIN (SELECT customer_id, currency, sum(amount) AS amount FROM posted
        WHERE account = 'receivable' GROUP BY customer_id, currency) AS found USING (customer_id, currency)
      UNION ALL
      SELECT 'payment', payment.id, 'amount', CASE
          WHEN payment.payment_status IN ('SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED') THEN payment.amount ELSE 0 END,
        -coalesce(found.amount, 0)
      FROM payments AS payment
      LEFT JOIN (SELECT entity_id, account, sum(amount) AS amount FROM posted
        WHERE kind IN ('payment.succeeded', 'payment.voided') GROUP BY entity_id, account) AS found
        ON found.entity_id = payment.id
          AND found.account = CASE payment.destination_type WHEN 'CUSTOMER' THEN 'wallet' ELSE 'receivable' END
      WHERE ${rowIsOfEnvironment('payment')}
      UNION ALL
      SELECT 'credit_note', note.id, 'total_amount', CASE WHEN note.credit_note_status = 'FINALIZED' THEN note.total_amount ELSE 0 END,
        coalesce(found.amount, 0)
      FROM credit_notes AS note
      LEFT JOIN (SELECT entity_id, sum(amount) AS amount FROM posted WHERE account IN ('refunds', 'wallet_funding') GROUP BY entity_id) AS found
        ON found.entity_id = note.id
      WHERE ${rowIsOfEnvironment('note')}
      UNION ALL
      SELECT 'wallet', wallet.id, 'credit_balance', wallet.credit_balance * wallet.conversion_rate, -coalesce(found.amount, 0)
      FROM wallets AS wallet
      LEFT JOIN (SELECT wallet_id, sum(amount) AS amount FROM posted WHERE account = 'wallet' GROUP BY wallet_id) AS found
        ON found.wallet_id = wallet.id
      WHERE ${rowIsOfEnvironment('wallet')}
      UNION ALL
      SELECT 'wallet', wallet.id, 'credits that are left', greatest(wallet.credit_balance, 0), coalesce(found.credits, 0)
      FROM wallets AS wallet
      LEFT JOIN (SELECT credit.wallet_id, sum(credit.credits_available) AS credits FROM wallet_transactions AS credit
        WHERE credit.transaction_status = 'completed' AND ${rowIsOfEnvironment('credit')} GROUP BY credit.wallet_id) AS found
        ON found.wallet_id = wallet.id
      WHERE ${rowIsOfEnvironment('wallet')}
    )
    SELECT * FROM compared WHERE stored <> posted ORDER BY entity_type, entity_id LIMIT 1000`);
  return rows.map(({ entity_type: type, entity_id: id, member, stored, posted }) =>
    problemOf(type, id, `${member} is ${stored}, and its postings add up to ${posted}`),
  );
}

const orphanRow = z.object({ id: z.string(), entity_type: z.string(), entity_id: z.string() });

/** Movements whose record is not there. */
async function findOrphans({ tx }: ReadUnit): Promise<readonly BooksProblemDto[]> {
  const rows = await tx.any(sql.type(orphanRow)`
    WITH documents AS (
      SELECT 'invoice' AS entity_type, id FROM invoices WHERE ${isOfEnvironment}
      UNION ALL SELECT 'payment', id FROM payments WHERE ${isOfEnvironment}
      UNION ALL SELECT 'credit_note', id FROM credit_notes WHERE ${isOfEnvironment}
      UNION ALL SELECT 'wallet_transaction', id FROM wallet_transactions WHERE ${isOfEnvironment}
    )
    SELECT movement.id, movement.entity_type, movement.entity_id FROM ledger_groups AS movement
    WHERE ${rowIsOfEnvironment('movement')} AND NOT EXISTS (
      SELECT FROM documents
      WHERE documents.entity_type = movement.entity_type AND documents.id = movement.entity_id)
    ORDER BY movement.id LIMIT 1000`);
  return rows.map(({ id, entity_type: type, entity_id: entity }) =>
    problemOf('movement', id, `its ${type} ${entity} does not exist`),
  );
}

const countRow = z.object({ count: integerColumn });

/**
 * GET /ledger/verify: computes the hashes of all movements again, and compares the sums of
 * invoices, payments, credit notes and wallets with their postings, which all have a record.
 */
export function verifyBooks(dependencies: ReadDependencies, occasion: Occasion): Promise<BooksDto> {
  return readUnit(dependencies, occasion, async (unit) => {
    const heads = await unit.tx.any(sql.type(headRow)`
      SELECT customer_id, last_position, last_hash FROM ledger_heads WHERE ${isOfEnvironment}
      ORDER BY customer_id`);
    let movements = 0;
    const problems: BooksProblemDto[] = [];
    for (let from = 0; from < heads.length; from += CUSTOMERS_AT_ONCE) {
      const found = await checkChains(unit, heads.slice(from, from + CUSTOMERS_AT_ONCE));
      movements += found.movements;
      problems.push(...found.problems);
    }
    const { count: records } = await unit.tx.one(sql.type(countRow)`
      SELECT (SELECT count(*) FROM invoices WHERE finalized_at IS NOT NULL AND ${isOfEnvironment})
        + (SELECT count(*) FROM payments WHERE ${isOfEnvironment})
        + (SELECT count(*) FROM credit_notes WHERE ${isOfEnvironment})
        + (SELECT count(*) FROM wallets WHERE ${isOfEnvironment}) AS count`);
    return {
      movements,
      records,
      problems: [...problems, ...(await findDifferences(unit)), ...(await findOrphans(unit))],
    };
  });
}
