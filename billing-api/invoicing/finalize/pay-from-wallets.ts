import { sql } from 'slonik';
import { sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import { noRows } from '../../../sql/columns.js';
import type { WalletRow } from '../../declarations/money/wallet.resource.js';
import type { PrepaidWallet } from '../../domain/adjustments/adjustments.js';
import type { WalletShare } from '../../domain/ledger/postings.js';
import { takeCredits, type WalletCredit } from '../../domain/wallet/consumption.js';
import { creditsToTake, moneyOfCredits } from '../../domain/wallet/credits.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { storeDebit, usableCredits } from '../../money/wallets/move-credits.js';
import { plain } from '../../../contract/number/decimal.js';
import {
  findComputations,
  storeComputations,
  withWallets,
  type PaidComputation,
  type StoredComputation,
} from '../../documents/store/computations.js';
import type { FinalDraft } from '../../documents/store/final-draft.js';

/** A wallet that can pay, with what is left of it while invoices are paid one after the other. */
type Purse = { wallet: WalletRow; credits: readonly WalletCredit[] };

/** A draft after wallets have paid of it, with what each paid. */
export type PaidDraft = FinalDraft & { readonly shares: readonly WalletShare[] };

const availableIn = ({ credits }: Purse): Decimal =>
  sumOf(credits.map(({ available }) => available));

function prepaidWalletOf(purse: Purse): PrepaidWallet {
  const { wallet } = purse;
  return {
    id: wallet.id,
    balance: moneyOfCredits(availableIn(purse), wallet.conversion_rate),
    allowedPriceTypes: wallet.config.allowed_price_types,
    createdAtMs: wallet.created_at,
  };
}

/** What one debit takes from its purse; its parts on the lines are noted with it. */
async function debitPurse(
  unit: Unit,
  purse: Purse,
  {
    debit,
    draft,
  }: { readonly debit: PaidComputation['debits'][number]; readonly draft: FinalDraft },
): Promise<WalletShare> {
  const { wallet } = purse;
  const available = availableIn(purse);
  const credits = creditsToTake(debit.amount.value, wallet.conversion_rate, available);
  const uses = takeCredits(purse.credits, credits);
  const moved = await storeDebit(unit, wallet, {
    uses,
    movement: {
      credits,
      reason: 'CREDIT_ADJUSTMENT',
      reference: { type: 'INVOICE', id: draft.row.id },
      linesPaid: debit.lines.map(({ index, amount }) => ({
        invoice_line_item_id: assertPresent(draft.parts.lines[index], 'a paid line').id,
        amount: plain(amount.value),
      })),
    },
  });
  const used = new Map(uses.map((use) => [use.creditId, use.credits]));
  purse.wallet = moved.wallet;
  purse.credits = purse.credits.map((credit) => ({
    ...credit,
    available: credit.available.minus(used.get(credit.id) ?? NOTHING_USED),
  }));
  return { walletId: wallet.id, worth: moved.transaction.amount };
}

/** Of a credit that a debit did not reach. */
const NOTHING_USED = ZERO;

/** Writes on stored lines what wallets paid of them. */
async function writeApplied({ tx }: Unit, drafts: readonly FinalDraft[]): Promise<void> {
  const rows = drafts.flatMap(({ parts }) =>
    parts.lines.map((line) => ({ id: line.id, applied: plain(line.prepaid_credits_applied) })),
  );
  if (rows.length === 0) return;
  await tx.query(sql.type(noRows)`
    UPDATE invoice_line_items AS line SET prepaid_credits_applied = given.applied
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS given (id text, applied numeric)
    WHERE line.id = given.id AND ${rowIsOfEnvironment('line')}`);
}

/** Whether credits may pay it: not a credit itself, and not what sells them. */
export function isPayable({ row, isFunding = false }: FinalDraft): boolean {
  return row.invoice_type !== 'CREDIT' && !isFunding;
}

/** What is in wallets, oldest first. */
async function openPurses(unit: Unit, wallets: readonly WalletRow[]): Promise<readonly Purse[]> {
  const purses: Purse[] = [];
  for (const wallet of wallets) {
    purses.push({ wallet, credits: await usableCredits(unit, wallet) });
  }
  return purses;
}

/**
 * Locked PRE_PAID wallets pay drafts that are about to be finalized (docs/domain.md 20.7). What
 * they pay becomes part of what the invoice is computed from, so that it can be computed again;
 * lines and sums follow. Drafts of customers without wallets stay as they are.
 */
export async function payFromWallets(
  unit: Unit,
  drafts: readonly FinalDraft[],
  wallets: readonly WalletRow[],
): Promise<readonly PaidDraft[]> {
  const purses = await openPurses(unit, wallets);
  const pursesOf = ({ row }: FinalDraft): readonly Purse[] =>
    purses.filter(
      ({ wallet }) => wallet.customer_id === row.customer_id && wallet.currency === row.currency,
    );
  const payable = drafts.filter((draft) => isPayable(draft) && pursesOf(draft).length > 0);
  if (payable.length === 0) return drafts.map((draft) => ({ ...draft, shares: [] }));
  const computations = await findComputations(
    unit,
    payable.map(({ row }) => row.id),
  );
  const paid = new Map<FinalDraft, PaidDraft>();
  const computed: StoredComputation[] = [];
  for (const draft of payable) {
    const own = pursesOf(draft);
    const computation = mustGet(computations, draft.row.id, 'a stored computation');
    const after = withWallets(computation, own.map(prepaidWalletOf), draft.priced);
    if (after.debits.length === 0) continue;
    const shares: WalletShare[] = [];
    for (const debit of after.debits) {
      const purse = own.find(({ wallet }) => wallet.id === debit.walletId);
      const share = await debitPurse(unit, assertPresent(purse, 'a wallet'), { debit, draft });
      shares.push(share);
    }
    computed.push(after.computation);
    const { totals, applied } = after;
    const lines = draft.parts.lines.map((line, place) => ({
      ...line,
      prepaid_credits_applied: assertPresent(applied[place], 'a computed line').value,
    }));
    paid.set(draft, {
      ...draft,
      shares,
      parts: { ...draft.parts, lines },
      computed: {
        ...draft.computed,
        total_prepaid_credits_applied: totals.totalPrepaidCreditsApplied.value,
        total: totals.total.value,
        amount_due: totals.amountDue.value,
        amount_remaining: totals.amountRemaining.value,
      },
    });
  }
  await storeComputations(unit, computed);
  await writeApplied(unit, [...paid.values()]);
  return drafts.map((draft) => paid.get(draft) ?? { ...draft, shares: [] });
}
