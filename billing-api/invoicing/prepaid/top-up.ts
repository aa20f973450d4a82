import { Decimal, ONE, ZERO } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import {
  WALLET_TRANSACTIONS,
  type WalletTransactionRow,
} from '../../declarations/money/wallet-transaction.resource.js';
import { WALLETS, type WalletRow } from '../../declarations/money/wallet.resource.js';
import { postingsOfCredit } from '../../domain/ledger/postings.js';
import {
  bonusOf,
  creditsOfMoney,
  priceOf,
  priceProblem,
  type BonusSlab,
} from '../../domain/wallet/credits.js';
import { postGroups } from '../../money/ledger/post-groups.js';
import { findInvoiceConfig } from '../../platform/settings/invoice-config.js';
import { findSetting } from '../../platform/settings/settings-store.js';
import { assertPresent } from '../../../runtime/failure.js';
import { lockRecord, readRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import type { DateTime, DecimalText, MetadataDto } from '../../records/record-dto.js';
import { accept, invalid, notFound, Refused } from '../../records/refusal.js';
import { repeatedRecord } from '../../records/repeated-key.js';
import { writeOperation } from '../../records/operation.js';
import type { Unit } from '../../records/unit.js';
import {
  addCredits,
  pendingCredit,
  storeTransaction,
  type Movement,
  type Moved,
} from '../../money/wallets/move-credits.js';
import { lockUsableWallet } from '../../money/wallets/usable-wallet.js';
import { giveCredits, groupOf, shareOf } from '../../money/wallets/wallet-operations.js';
import { findByKey } from '../../money/wallets/wallets-store.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { storeGivenInvoice } from '../invoices/create-invoice.js';
import { completeCredits } from '../../money/payments/complete-purchase.js';

/** @example {"credits_to_add": "100", "transaction_reason": "FREE_CREDIT_GRANT"} */
export interface TopUpWalletBody {
  /** More than 0; or else `amount`. */
  credits_to_add?: DecimalText;
  /** Money for which credits are bought at `topup_conversion_rate`, more than 0. */
  amount?: DecimalText;
  /**
   * FREE_CREDIT_GRANT costs nothing; PURCHASED_CREDIT_DIRECT was paid elsewhere;
   * PURCHASED_CREDIT_INVOICED makes an invoice, and the credits arrive when it is paid.
   */
  transaction_reason: 'FREE_CREDIT_GRANT' | 'PURCHASED_CREDIT_DIRECT' | 'PURCHASED_CREDIT_INVOICED';
  /** In the future. */
  expiry_date_utc?: DateTime;
  /**
   * The lowest is used first, and those without one last.
   * @isInt
   * @minimum -2147483648
   * @maximum 2147483647
   */
  priority?: number;
  /** Free credits beside those that are bought, more than 0; by the setting when absent. */
  bonus_credits_to_add?: DecimalText;
  /** In the future. */
  bonus_credits_expiry_date_utc?: DateTime;
  /** @maxLength 10000 */
  description?: string;
  /**
   * A second request with the same key answers the transaction of the first, however late.
   * @minLength 1
   * @maxLength 255
   */
  idempotency_key?: string;
  metadata?: MetadataDto;
}

/** What a top-up has done. */
export type ToppedUp = {
  readonly wallet: WalletRow;
  readonly transaction: WalletTransactionRow;
  /** Of PURCHASED_CREDIT_INVOICED. */
  readonly invoiceId: string | null;
};

type TopUp = {
  readonly movement: Movement;
  readonly bonus: {
    readonly credits: Decimal;
    readonly expiryMs: InstantMs | null;
  };
};

/** A date of a request that must not have passed. */
function future(
  reader: MemberReader,
  member: string,
  { text, now }: { readonly text: string | undefined; readonly now: InstantMs },
): InstantMs | null {
  const instant = reader.instant(member, text);
  if (instant !== null && instant <= now) reader.note(member, 'must be in the future');
  return instant;
}

async function slabsOf(unit: Unit): Promise<readonly BonusSlab[]> {
  const stored = (await findSetting(unit, 'wallet_bonus')) as {
    readonly slabs?: readonly {
      threshold: string;
      type: BonusSlab['type'];
      value: string;
    }[];
  } | null;
  // Absent means none: no bonus was set.
  return (stored?.slabs ?? []).map(({ threshold, type, value }) => ({
    threshold: new Decimal(threshold),
    type,
    value: new Decimal(value),
  }));
}

/** How many credits a request asks for: as it says, or for the money that it names. */
function creditsOf(
  reader: MemberReader,
  body: TopUpWalletBody,
  { currency, topup_conversion_rate: rate }: WalletRow,
): Decimal {
  const given = reader.positive('credits_to_add', body.credits_to_add);
  const amount = reader.positive('amount', body.amount);
  if (amount !== null) reader.minorDigits('amount', amount, currency);
  // One stands for a bad number, for which the request is refused.
  return given ?? (amount === null ? ONE : creditsOfMoney(amount, rate));
}

/** The bonus of a purchase: as the request says, or by the setting. */
async function bonusFor(
  unit: Unit,
  reader: MemberReader,
  { body, credits }: { readonly body: TopUpWalletBody; readonly credits: Decimal },
): Promise<TopUp['bonus']> {
  const isFree = body.transaction_reason === 'FREE_CREDIT_GRANT';
  const own = reader.positive('bonus_credits_to_add', body.bonus_credits_to_add);
  if (own !== null && isFree) {
    reader.note('bonus_credits_to_add', 'goes with credits that are bought');
  }
  const member = 'bonus_credits_expiry_date_utc';
  const expiryMs = future(reader, member, {
    text: body[member],
    now: unit.now,
  });
  const bonus = isFree ? ZERO : (own ?? bonusOf(credits, await slabsOf(unit)));
  return { credits: bonus, expiryMs };
}

async function readTopUp(unit: Unit, body: TopUpWalletBody, wallet: WalletRow): Promise<TopUp> {
  if ((body.credits_to_add === undefined) === (body.amount === undefined)) {
    throw new Refused(
      invalid({
        credits_to_add: 'must be given, or else amount, but not both',
      }),
    );
  }
  const reader = new MemberReader();
  const credits = creditsOf(reader, body, wallet);
  if (body.transaction_reason !== 'FREE_CREDIT_GRANT') {
    const member = body.amount === undefined ? 'credits_to_add' : 'amount';
    reader.note(member, priceProblem(credits, wallet));
  }
  const bonus = await bonusFor(unit, reader, { body, credits });
  const text = body.expiry_date_utc;
  const { description = null, idempotency_key: idempotencyKey = null, priority = null } = body;
  const movement = {
    credits,
    reason: body.transaction_reason,
    description,
    idempotencyKey,
    priority,
    expiryDate: future(reader, 'expiry_date_utc', { text, now: unit.now }),
    metadata: reader.metadata(body.metadata),
  };
  return accept(reader.refusal() ?? { movement, bonus });
}

/** The bonus of a purchase as a movement of its own. */
function bonusOfPurchase({ bonus }: TopUp, parentId: string): Movement {
  return {
    credits: bonus.credits,
    reason: 'PURCHASED_CREDIT_BONUS',
    expiryDate: bonus.expiryMs,
    parentId,
  };
}

/** Credits that were paid elsewhere arrive at once, with their bonus. */
async function buyDirectly(unit: Unit, wallet: WalletRow, topUp: TopUp): Promise<Moved> {
  const moved = await addCredits(unit, wallet, topUp.movement);
  const paid = priceOf(topUp.movement.credits, wallet);
  await postGroups(unit, [{ ...groupOf(moved), postings: postingsOfCredit(shareOf(moved), paid) }]);
  if (topUp.bonus.credits.isZero()) return moved;
  const { transaction } = moved;
  const bonus = await giveCredits(unit, moved.wallet, bonusOfPurchase(topUp, transaction.id));
  return { wallet: bonus.wallet, transaction };
}

/** The metadata by which transactions of automatic top-ups are known. */
export const AUTO_TOPUP = 'auto_topup';

/** What an invoice of credits is requested with. */
type CreditInvoice = {
  readonly wallet: WalletRow;
  readonly credits: Decimal;
  readonly reason: 'MANUAL' | 'WALLET_AUTO_TOPUP';
};

/** Makes the invoice that sells credits of a locked wallet. */
function storeCreditInvoice(
  unit: Unit,
  { wallet, credits, reason }: CreditInvoice,
): Promise<InvoiceDocument> {
  const { currency } = wallet;
  const amount = priceOf(credits, wallet);
  const line = {
    displayName: 'Credits',
    amount,
    quantity: credits,
    priceId: null,
    period: null,
    metadata: {},
  };
  const request = {
    customerId: wallet.customer_id,
    currency,
    type: 'ONE_OFF' as const,
    lines: [line],
    number: null,
    dueDate: unit.now,
    description: null,
    coupons: [],
    taxRates: [],
    reason,
    period: null,
    metadata: { wallet_id: wallet.id },
  };
  return storeGivenInvoice(unit, request, { isFunding: true });
}

/** Stores the credits that wait for an invoice to be paid: those that are bought, and a bonus. */
async function storeWaiting(
  unit: Unit,
  wallet: WalletRow,
  { topUp, invoiceId }: { readonly topUp: TopUp; readonly invoiceId: string },
): Promise<readonly [WalletTransactionRow, ...WalletTransactionRow[]]> {
  const reference = { type: 'INVOICE', id: invoiceId } as const;
  const bought = { ...topUp.movement, reference };
  const waiting = await storeTransaction(unit, pendingCredit(wallet, bought));
  if (topUp.bonus.credits.isZero()) return [waiting];
  const movement = { ...bonusOfPurchase(topUp, waiting.id), reference };
  const bonus = await storeTransaction(unit, pendingCredit(wallet, movement));
  return [waiting, bonus];
}

/** Credits whose invoice is made now: they arrive when it is paid, or at once by the setting. */
async function buyByInvoice(
  unit: Unit,
  wallet: WalletRow,
  { topUp, reason }: { readonly topUp: TopUp; readonly reason: CreditInvoice['reason'] },
): Promise<ToppedUp> {
  const { credits } = topUp.movement;
  const invoice = await storeCreditInvoice(unit, { wallet, credits, reason });
  const invoiceId = assertPresent(invoice.header.id, 'the id of a stored invoice');
  const waiting = await storeWaiting(unit, wallet, { topUp, invoiceId });
  const { auto_complete_purchased_credit_transaction: isAuto } = await findInvoiceConfig(unit);
  if (isAuto || invoice.header.payment_status === 'SUCCEEDED') {
    await completeCredits(unit, waiting);
  }
  const after = await readRecord(unit, WALLETS, wallet.id);
  const transaction = await readRecord(unit, WALLET_TRANSACTIONS, waiting[0].id);
  return { wallet: after, transaction, invoiceId };
}

/**
 * Adds the credits of an automatic top-up to a locked wallet: by an invoice, or at once for nothing
 * (docs/domain.md 20.9).
 */
export async function addAutomatically(
  unit: Unit,
  wallet: WalletRow,
  { credits, isInvoiced }: { readonly credits: Decimal; readonly isInvoiced: boolean },
): Promise<void> {
  const metadata = { [AUTO_TOPUP]: true };
  if (!isInvoiced) {
    const given = { credits, reason: 'FREE_CREDIT_GRANT', metadata } as const;
    await giveCredits(unit, wallet, given);
    return;
  }
  const movement = {
    credits,
    reason: 'PURCHASED_CREDIT_INVOICED',
    metadata,
  } as const;
  const topUp = { movement, bonus: { credits: ZERO, expiryMs: null } };
  await buyByInvoice(unit, wallet, {
    topUp,
    reason: 'WALLET_AUTO_TOPUP',
  });
}

async function carryOut(unit: Unit, wallet: WalletRow, topUp: TopUp): Promise<ToppedUp> {
  const { reason } = topUp.movement;
  if (reason === 'PURCHASED_CREDIT_INVOICED') {
    return buyByInvoice(unit, wallet, { topUp, reason: 'MANUAL' });
  }
  const moved =
    reason === 'PURCHASED_CREDIT_DIRECT'
      ? await buyDirectly(unit, wallet, topUp)
      : await giveCredits(unit, wallet, topUp.movement);
  return { ...moved, invoiceId: null };
}

/** The first answer to a request whose key has come before; null when it is new. */
async function findRepeated(
  unit: Unit,
  wallet: WalletRow,
  body: TopUpWalletBody,
): Promise<ToppedUp | null> {
  const known = await findByKey(unit, wallet, {
    type: 'credit',
    key: body.idempotency_key ?? null,
  });
  if (known === null) return null;
  const reader = new MemberReader();
  const credits = creditsOf(reader, body, wallet);
  const invoiceId = known.reference_type === 'INVOICE' ? known.reference_id : null;
  const isSame =
    known.credit_amount.equals(credits) && known.transaction_reason === body.transaction_reason;
  const answer = { wallet, transaction: known, invoiceId };
  return accept(reader.refusal() ?? repeatedRecord(answer, { what: 'top-up', isSame }));
}

/** POST /wallets/{id}/top-up (docs/domain.md 20.4). */
export const topUpWallet = writeOperation(
  async (
    unit,
    { id, body }: { readonly id: string; readonly body: TopUpWalletBody },
  ): Promise<ToppedUp> => {
    const locked = await lockRecord(unit, WALLETS, id);
    if (locked === null) throw new Refused(notFound(WALLETS.name, id));
    const repeated = await findRepeated(unit, locked, body);
    if (repeated !== null) return repeated;
    const wallet = await lockUsableWallet(unit, id);
    const topUp = await readTopUp(unit, body, wallet);
    return carryOut(unit, wallet, topUp);
  },
);
