import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf } from '../../../contract/decimal.js';
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
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readUnit, writeUnit, type Unit } from '../../records/unit.js';
import type { BillingDependencies } from '../stored/compute-tasks.js';
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

/** Where the pauses after the last automatic top-ups end, as `at`: a wallet may get another. */
export const topUpPauses = sql.fragment`
  SELECT max(credit.created_at) + make_interval(secs =>
      (wallet.auto_topup #>> '{cooldown,value}')::integer
        * CASE wallet.auto_topup #>> '{cooldown,unit}'
          WHEN 'second' THEN 1 WHEN 'minute' THEN 60 WHEN 'hour' THEN 3600 ELSE 86400 END) AS at
  FROM wallets AS wallet JOIN wallet_transactions AS credit ON credit.wallet_id = wallet.id
    AND ${rowIsOfEnvironment('credit')}
  WHERE wallet.wallet_status = 'active' AND wallet.auto_topup ->> 'enabled' = 'true'
    AND wallet.auto_topup ? 'cooldown' AND credit.type = 'credit'
    AND credit.metadata ? ${AUTO_TOPUP}
    AND ${rowIsOfEnvironment('wallet')}
  GROUP BY wallet.id, wallet.auto_topup`;

/**
 * Tops up a wallet that was read to be low, unless it has changed since.
 * @returns whether it did.
 */
async function topUpUnchanged(unit: Unit, read: WalletRow): Promise<boolean | Refusal> {
  const wallet = await lockRecord(unit, WALLETS, read.id);
  const auto = wallet?.auto_topup ?? null;
  if (wallet?.version !== read.version || auto === null) return false;
  if (await mustWait(unit, wallet, auto)) return false;
  const credits = decimalOf(auto.amount);
  const isInvoiced = auto.invoicing === true;
  return (await addAutomatically(unit, wallet, { credits, isInvoiced })) ?? true;
}

/**
 * Tops up the wallets of an environment that have run low, each once until its credits have come
 * and its pause is over (docs/domain.md 20.9).
 * @returns whether there was one, which may still be low.
 * @throws DependencyError when a database fails.
 */
export async function topUpLowWallets(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
): Promise<boolean> {
  let isMore = false;
  const wallets = await readUnit(dependencies, occasion, ({ tx }) =>
    tx.any(sql.type(WALLETS.row)`
      SELECT * FROM wallets
      WHERE wallet_status = 'active' AND auto_topup ->> 'enabled' = 'true' AND ${isOfEnvironment}
      ORDER BY id`),
  );
  for (const wallet of wallets) {
    const balance = await readRealTimeBalance(dependencies, occasion, wallet.id);
    if (isRefusal(balance) || wallet.auto_topup === null) continue;
    const threshold = decimalOf(wallet.auto_topup.threshold);
    if (decimalOf(balance.real_time_credit_balance).greaterThan(threshold)) continue;
    const done = await writeUnit(dependencies, occasion, (unit) => topUpUnchanged(unit, wallet));
    // The job has no one whom a refusal could be told: it fails and is tried again.
    if (isRefusal(done)) throw new Error(done.message);
    isMore ||= done;
  }
  return isMore;
}
