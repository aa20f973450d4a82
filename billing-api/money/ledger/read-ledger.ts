import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, plain, sumOf } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn, numericColumn } from '../../../sql/columns.js';
import { ACCOUNTS } from '../../domain/ledger/postings.js';
import { allOf, isEqual, isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import type { Refusal } from '../../records/refusal.js';
import { countMatches, type Page } from '../../records/search-records.js';
import { mustRead, type ReadDependencies } from '../../records/unit.js';
import type { LedgerBalancesDto, PostingDto, SearchPostingsBody } from './ledger-dto.js';

const account = z.enum(ACCOUNTS);
const balanceRow = z.object({
  account,
  wallet_id: z.string().nullable(),
  customer_id: z.string(),
  balance: numericColumn.transform(decimalOf),
});

/** Which balances are asked for. */
export type BalancesQuery = {
  readonly currency: string;
  readonly at?: string | undefined;
  readonly customer_id?: string | undefined;
};

/** GET /ledger/balances: what every account holds at an instant, and that all add up to 0. */
export async function readBalances(
  dependencies: ReadDependencies,
  occasion: Occasion,
  query: BalancesQuery,
): Promise<LedgerBalancesDto | Refusal> {
  const reader = new MemberReader();
  const currency = reader.currency('currency', query.currency);
  const at = reader.instant('at', query.at);
  const refusal = reader.refusal();
  if (refusal !== null) return refusal;
  return mustRead(dependencies, occasion, async ({ tx, now }) => {
    const until = at ?? now;
    const where = allOf(isEqual('customer_id', query.customer_id));
    const rows = await tx.any(sql.type(balanceRow)`
      SELECT account, wallet_id, customer_id, sum(amount) AS balance FROM ledger_postings
      WHERE currency = ${currency} AND created_at <= ${formatInstant(until)}::timestamptz
        AND ${where} AND ${isOfEnvironment}
      GROUP BY account, wallet_id, customer_id ORDER BY account, customer_id, wallet_id`);
    return {
      at: formatInstant(until),
      currency,
      items: rows.map((row) => ({ ...row, balance: plain(row.balance) })),
      sum: plain(sumOf(rows.map(({ balance }) => balance))),
    };
  });
}

const postingRow = z.object({
  id: z.string(),
  group_id: z.string(),
  kind: z.string(),
  account,
  wallet_id: z.string().nullable(),
  customer_id: z.string(),
  amount: numericColumn.transform(decimalOf),
  currency: z.string(),
  entity_type: z.string(),
  entity_id: z.string(),
  created_at: instantColumn,
});

const POSTINGS = { table: 'ledger_postings', scope: 'environment' } as const;

function postingToDto({ group_id, amount, created_at, ...row }: z.output<typeof postingRow>) {
  const members = { transaction_id: group_id, amount: plain(amount) };
  return { ...row, ...members, created_at: formatInstant(created_at) };
}

/** POST /ledger/postings/search: the latest first. */
export function searchPostings(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchPostingsBody,
): Promise<Page<PostingDto> | Refusal> {
  const { limit = 50, offset = 0 } = body;
  const where = allOf([
    ...isEqual('account', body.account),
    ...isEqual('customer_id', body.customer_id),
    ...isEqual('entity_type', body.entity_type),
    ...isEqual('entity_id', body.entity_id),
  ]);
  return mustRead(dependencies, occasion, async (unit) => {
    const rows = await unit.tx.any(sql.type(postingRow)`
      SELECT posting.*, (SELECT kind FROM ledger_groups AS movement
        WHERE movement.id = posting.group_id AND ${rowIsOfEnvironment('movement')}) AS kind
      FROM (SELECT * FROM ledger_postings WHERE ${where} AND ${isOfEnvironment}
        ORDER BY created_at DESC, group_id DESC, position LIMIT ${limit} OFFSET ${offset}) AS posting
      ORDER BY created_at DESC, group_id DESC, position`);
    const page = { limit, offset, itemCount: rows.length };
    const pagination = await countMatches(unit, { resource: POSTINGS, where }, page);
    return { items: rows.map(postingToDto), pagination };
  });
}
