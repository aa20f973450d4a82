import type { Decimal } from '../../../contract/number/decimal.js';
import { ZERO } from '../../../contract/number/decimal.js';
import { postingsOfLoss, postingsOfMove } from '../../domain/ledger/postings.js';
import { WALLET } from '../../domain/lifecycle/money-lifecycle.js';
import { WALLETS, walletToDto, type WalletRow } from '../../declarations/money/wallet.resource.js';
import type { WalletTransactionRow } from '../../declarations/money/wallet-transaction.resource.js';
import { postGroups } from '../ledger/post-groups.js';
import { lockRecord, readRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { moveRecord } from '../../records/move-record.js';
import { problemOfMove } from '../../domain/lifecycle/lifecycle.js';
import type { ChangeTarget } from '../../records/change-record.js';
import type { Occasion } from '../../records/occasion.js';
import type { DecimalText, MetadataDto } from '../../records/record-dto.js';
import { accept, isRefusal, notFound, Refusal, Refused } from '../../records/refusal.js';
import { repeatedRecord } from '../../records/repeated-key.js';
import { writeOperation } from '../../records/operation.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { assertPresent } from '../../../runtime/failure.js';
import { addCredits, debitCredits } from './move-credits.js';
import { lockUsableWallet } from './usable-wallet.js';
import { groupOf, shareOf } from './wallet-operations.js';
import { findByKey, storeWallet } from './wallets-store.js';

/**
 * @example {"credits": "3", "idempotency_key": "order-4711",
 *   "transaction_reason": "CREDIT_ADJUSTMENT"}
 */
export interface DebitWalletBody {
  /** More than 0. */
  credits: DecimalText;
  /**
   * A debit by hand may take the wallet below 0; a CREDIT_ADJUSTMENT is refused when there are too
   * few credits.
   * @default "MANUAL_BALANCE_DEBIT"
   */
  transaction_reason?: 'MANUAL_BALANCE_DEBIT' | 'CREDIT_ADJUSTMENT';
  /**
   * A second request with the same key answers the debit of the first, however late.
   * @minLength 1
   * @maxLength 255
   */
  idempotency_key: string;
  /** @maxLength 10000 */
  description?: string;
  metadata?: MetadataDto;
}

/** A wallet and a movement of it. */
export type WalletMovement = {
  readonly wallet: WalletRow;
  readonly transaction: WalletTransactionRow;
};

function readDebit(body: DebitWalletBody) {
  const reader = new MemberReader();
  const credits: Decimal = reader.positive('credits', body.credits) ?? ZERO;
  const movement = {
    credits,
    reason: body.transaction_reason ?? ('MANUAL_BALANCE_DEBIT' as const),
    idempotencyKey: body.idempotency_key,
    description: body.description ?? null,
    metadata: reader.metadata(body.metadata),
  };
  return reader.refusal() ?? movement;
}

/** POST /wallets/{id}/debit: of debits at once none takes what another has taken. */
export async function debitWallet(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { id, body }: { readonly id: string; readonly body: DebitWalletBody },
): Promise<WalletMovement | Refusal> {
  const movement = readDebit(body);
  if (isRefusal(movement)) return movement;
  return writeUnit(dependencies, occasion, async (unit) => {
    const wallet = await lockRecord(unit, WALLETS, id);
    if (wallet === null) throw new Refused(notFound(WALLETS.name, id));
    const known = await findByKey(unit, wallet, {
      type: 'debit',
      key: body.idempotency_key,
    });
    if (known !== null) {
      const isSame =
        known.credit_amount.equals(movement.credits) &&
        known.transaction_reason === movement.reason;
      return accept(repeatedRecord({ wallet, transaction: known }, { what: 'debit', isSame }));
    }
    const usable = await lockUsableWallet(unit, id);
    const moved = await debitCredits(unit, usable, movement);
    await postGroups(unit, [{ ...groupOf(moved), postings: postingsOfLoss(shareOf(moved)) }]);
    return moved;
  });
}

/** Takes everything out of a locked wallet; null when there is nothing in it. */
function empty(unit: Unit, wallet: WalletRow) {
  const { credit_balance: credits } = wallet;
  if (!credits.greaterThan(ZERO)) return null;
  return debitCredits(unit, wallet, { credits, reason: 'WALLET_TERMINATION' });
}

/** The refusal of a move that the state of a wallet does not allow; otherwise the locked wallet. */
async function lockFor(unit: Unit, id: string, move: 'terminate' | 'convert'): Promise<WalletRow> {
  const wallet = await lockRecord(unit, WALLETS, id);
  if (wallet === null) throw new Refused(notFound(WALLETS.name, id));
  const problem = problemOfMove(WALLET, move, wallet.wallet_status);
  return accept(problem === null ? wallet : new Refusal('invalid_operation', problem));
}

/** POST /wallets/{id}/terminate: what is left of its credits is lost, and it is closed. */
export const terminateWallet = writeOperation(
  async (unit, target: ChangeTarget): Promise<WalletRow> => {
    const wallet = await lockFor(unit, target.id, 'terminate');
    if (target.isExpected?.(wallet.version) === false) {
      throw new Refused(
        new Refusal('version_conflict', `the wallet has version ${wallet.version}`),
      );
    }
    const moved = await empty(unit, wallet);
    const closed = await moveRecord(unit, WALLETS, {
      target: { id: wallet.id },
      lifecycle: WALLET,
      move: 'terminate',
      to: 'closed',
      told: (after) => Promise.resolve(walletToDto(after)),
    });
    if (moved === null) return closed;
    await postGroups(unit, [{ ...groupOf(moved), postings: postingsOfLoss(shareOf(moved)) }]);
    return closed;
  },
);

/** The wallet that was closed and the one that replaces it. */
export type ConvertedWallet = {
  readonly original: WalletRow;
  readonly made: WalletRow;
};

function convertRefusal({ wallet_type: type, credit_balance: balance }: WalletRow): Refusal | null {
  if (type !== 'PRE_PAID') {
    return new Refusal(
      'invalid_operation',
      `the wallet is ${type}; only a PRE_PAID one can be made POST_PAID`,
    );
  }
  if (!balance.isNegative()) return null;
  return new Refusal('invalid_operation', 'the wallet is below 0; add credits first');
}

/** Makes the POST_PAID wallet and moves all credits of the locked one to it. */
async function replace(unit: Unit, wallet: WalletRow): Promise<ConvertedWallet> {
  const emptied = await empty(unit, wallet);
  const original = await moveRecord(unit, WALLETS, {
    target: { id: wallet.id },
    lifecycle: WALLET,
    move: 'convert',
    to: 'closed',
    told: (after) => Promise.resolve(walletToDto(after)),
  });
  const { customer_id, currency, name, description, conversion_rate, auto_topup } = wallet;
  const fresh = await storeWallet(unit, {
    customer_id,
    currency,
    name,
    description,
    conversion_rate,
    auto_topup,
    topup_conversion_rate: wallet.topup_conversion_rate,
    wallet_type: 'POST_PAID',
    wallet_status: 'active',
    credit_balance: ZERO,
    version: 1,
    config: { allowed_price_types: ['ALL'] },
    alert_settings: wallet.alert_settings,
    alert_state: 'ok',
    metadata: { ...wallet.metadata, converted_from: wallet.id },
  });
  if (emptied === null) return { original, made: fresh };
  const { credit_amount: credits } = emptied.transaction;
  const filled = await addCredits(unit, fresh, {
    credits,
    reason: 'FREE_CREDIT_GRANT',
  });
  const postings = postingsOfMove(shareOf(emptied), fresh.id);
  await postGroups(unit, [{ ...groupOf(emptied), kind: 'wallet.converted', postings }]);
  return { original, made: filled.wallet };
}

/**
 * POST /wallets/{id}/modify: closes a PRE_PAID wallet and gives all of its credits to a new
 * POST_PAID one, in one step (docs/domain.md 20.5).
 */
export const convertWallet = writeOperation(async (unit, id: string): Promise<ConvertedWallet> => {
  const wallet = await lockFor(unit, id, 'convert');
  accept(convertRefusal(wallet));
  const done = await replace(unit, wallet);
  const original = await readRecord(unit, WALLETS, id);
  return { ...done, original: assertPresent(original, 'it') };
});
