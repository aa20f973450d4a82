import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { postingsOfExcess } from '../../domain/ledger/postings.js';
import { postGroups } from '../../money/ledger/post-groups.js';
import type { Unit } from '../../records/unit.js';
import { addCredits } from '../../money/wallets/move-credits.js';
import { lockPrepaidWallets, lockRefundWallet } from '../../money/wallets/wallets-store.js';
import type { FinalDraft } from '../../documents/store/final-draft.js';

/** By how much negative lines exceed what else an invoice charges; 0 for nearly all. */
function excessOf({ row, computed }: FinalDraft): Decimal {
  if (row.invoice_type !== 'SUBSCRIPTION') return ZERO;
  const { subtotal, total_discount: discount, total_tax: tax } = { ...row, ...computed };
  const net = subtotal.minus(discount).plus(tax);
  return net.lessThan(ZERO) ? net.negated() : ZERO;
}

/** Locks the wallets that `giveExcess` gives to, before anything is posted. */
export async function lockExcessWallets(unit: Unit, drafts: readonly FinalDraft[]): Promise<void> {
  const owners = drafts.filter((draft) => !excessOf(draft).isZero());
  await lockPrepaidWallets(
    unit,
    owners.map(({ row }) => row.customer_id),
  );
}

/**
 * Gives to wallets what invoices take off beyond what they charge: usage that became cheaper after
 * a threshold invoice had charged it (docs/domain.md 30.1).
 */
export async function giveExcess(unit: Unit, drafts: readonly FinalDraft[]): Promise<void> {
  for (const draft of drafts) {
    const amount = excessOf(draft);
    if (amount.isZero()) continue;
    const { id, customer_id: customerId, currency } = draft.row;
    const wallet = await lockRefundWallet(unit, { customerId, currency });
    await addCredits(unit, wallet, {
      credits: amount,
      reason: 'CREDIT_NOTE',
      reference: { type: 'INVOICE', id },
      description: 'Usage that became cheaper after it was invoiced',
    });
    await postGroups(unit, [
      {
        customerId,
        currency,
        kind: 'invoice.credited',
        entityType: 'invoice',
        entityId: id,
        postings: postingsOfExcess(amount, wallet.id),
      },
    ]);
  }
}
