import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, type Decimal } from '../../../contract/number/decimal.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../contract/instant.js';
import { instantColumn } from '../../../sql/columns.js';
import {
  WALLETS,
  type AutoTopupDto,
  type WalletRow,
} from '../../declarations/money/wallet.resource.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { isRefusal } from '../../records/refusal.js';
import { mustRead, mustWrite, type Unit } from '../../records/unit.js';
import { dueOf, isWanted, type DueQuery } from '../../due/due-items.js';
import type { BillingDependencies } from '../drafts/compute-tasks.js';
import { readRealTimeBalance } from './real-time-balance.js';
import { addAutomatically, AUTO_TOPUP } from './top-up.js';

const UNIT_MS = { second: 1_000, minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS } as const;

const lastRow = z.object({ is_pending: z.boolean(), last_at: instantColumn.nullable() });

/** Whether credits of an earlier top-up are still to come, or came too short a time ago. */
async function mustWait(
  { tx, now }: Unit,
  { id }: WalletRow,
  { cooldown }: AutoTopupDto,
): Promise<boolean> {
  const { is_pending: isPending, last_at: lastAt } = await tx.one(sql.type(lastRow)`
    SELECT coalesce(bool_or(transaction_status = 'pending'), false) AS is_pending,
      max(created_at) FILTER (WHERE metadata ? ${AUTO_TOPUP}) AS last_at
    FROM wallet_transactions WHERE wallet_id = ${id} AND type = 'credit' AND ${isOfEnvironment}`);
  if (isPending) return true;
  if (cooldown === undefined || lastAt === null) return false;
  return now < lastAt + cooldown.value * UNIT_MS[cooldown.unit];
}

/**
 * What a wallet needs to be above its threshold: as often the amount as that takes. Where a pause
 * follows each top-up, the amount once.
 */
function creditsFor({ amount, threshold, cooldown }: AutoTopupDto, balance: Decimal): Decimal {
  const once = decimalOf(amount);
  if (cooldown !== undefined) return once;
  const missing = decimalOf(threshold).minus(balance);
  return once.times(missing.dividedBy(once).floor().plus(1));
}

/** Tops up a wallet that was read to be low, unless it has changed since. */
async function topUpUnchanged(
  unit: Unit,
  { read, balance }: { readonly read: WalletRow; readonly balance: Decimal },
): Promise<boolean> {
  const wallet = await lockRecord(unit, WALLETS, read.id);
  const auto = wallet?.auto_topup ?? null;
  if (wallet?.version !== read.version || auto === null) return false;
  if (await mustWait(unit, wallet, auto)) return false;
  const credits = creditsFor(auto, balance);
  const isInvoiced = auto.invoicing === true;
  await addAutomatically(unit, wallet, { credits, isInvoiced });
  return true;
}

/** The job of a single wallet that could not be topped up with the others. */
export const TOP_UP_WALLET = 'top-up-wallet';

/** Wallets that are topped up by themselves, a page of them, behind the wallet `after`. */
export function findToppedUp(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  { after, ...due }: DueQuery & { readonly after: string | null },
): Promise<readonly WalletRow[]> {
  return mustRead(dependencies, occasion, (unit) =>
    unit.tx.any(sql.type(WALLETS.row)`
      SELECT wallets.* FROM (${dueOf(unit, 'top_up')}) AS due
      JOIN wallets ON wallets.id = due.id AND ${rowIsOfEnvironment('wallets')}
      WHERE (${after}::text IS NULL OR due.id > ${after})
        AND ${isWanted(TOP_UP_WALLET, sql.fragment`due.id`, due)}
      ORDER BY due.id LIMIT ${due.limit}`),
  );
}

/**
 * Tops up a wallet if it has run low, and no credits of an earlier top-up and no pause are waited
 * for (docs/domain.md 20.9).
 * @returns whether it did. @throws when it cannot be done, with the reason.
 */
export async function topUpIfLow(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  wallet: WalletRow,
): Promise<boolean> {
  const read = await readRealTimeBalance(dependencies, occasion, wallet.id);
  if (isRefusal(read) || wallet.auto_topup === null) return false;
  const balance = decimalOf(read.real_time_credit_balance);
  if (balance.greaterThan(decimalOf(wallet.auto_topup.threshold))) return false;
  return mustWrite(dependencies, occasion, (unit) =>
    topUpUnchanged(unit, { read: wallet, balance }),
  );
}
