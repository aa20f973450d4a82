import { sumOf, type Decimal } from '../../../contract/number/decimal.js';
import { assertPresent } from '../../../runtime/failure.js';
import { groupBy } from '../../../runtime/group-by.js';
import type { WalletTransactionRow } from '../../declarations/money/wallet-transaction.resource.js';
import { postingsOfAdjustment, postingsOfRefund } from '../../domain/ledger/postings.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { divideByNet, grossOf, type TaxedPart } from '../../domain/settlement/credit-taxes.js';
import { storeCreditedCharges, type CreditedCharge } from '../../documents/store/credited-lines.js';
import { adjust } from '../../money/credit-notes/settle-note.js';
import { storeUnusedNotes, type NewUnusedNote } from '../../money/credit-notes/unused-notes.js';
import { postGroups, type NewGroup } from '../../money/ledger/post-groups.js';
import { addCredits } from '../../money/wallets/move-credits.js';
import { lockRefundWallet } from '../../money/wallets/wallets-store.js';
import type { Unit } from '../../records/unit.js';
import { creditDraft } from './credit-draft.js';
import type { PlannedCredit } from './plan-credits.js';

/** What a negative line of an invoice takes off of a line item, without taxes. */
export type SetOff = {
  readonly creditLineId: string;
  readonly lineItemId: string;
  readonly amount: Decimal;
};

/** What is given back for unused time, and where it goes. */
export type CreditSums = {
  readonly net: Decimal;
  readonly tax: Decimal;
  /** With taxes: what lowers invoices that are not paid, or drafts. */
  readonly lowered: Decimal;
  /** Without taxes: what another invoice sets off. */
  readonly setOff: Decimal;
  /** With taxes: what goes to wallets. */
  readonly paidOut: Decimal;
};

/** What was given back, with the first movement of a wallet; null without one. */
export type GivenCredit = CreditSums & { readonly transaction: WalletTransactionRow | null };

const sumOfNet = (lines: readonly TaxedPart[]): Decimal => sumOf(lines.map(({ net }) => net));
const sumOfGross = (lines: readonly TaxedPart[]): Decimal => sumOf(lines.map(grossOf));

/** What credits come to, before anything is stored. */
export function sumsOf(
  credits: readonly PlannedCredit[],
  charges: readonly CreditedCharge[] = [],
): CreditSums {
  const lowered = credits.flatMap(({ owed }) => owed);
  const rest = credits.flatMap((one) => one.rest);
  const all = [...lowered, ...rest];
  return {
    net: sumOf([...all, ...charges].map(({ net }) => net)),
    tax: sumOf(all.map(({ tax }) => tax)),
    lowered: sumOfGross(lowered),
    setOff: sumOf(charges.map(({ net }) => net)),
    paidOut: sumOfGross(rest),
  };
}

/** Takes off what another invoice has set off: from the lines of each line item, in their order. */
function takeSetOff(
  credits: readonly PlannedCredit[],
  setOff: readonly SetOff[],
): { readonly left: readonly PlannedCredit[]; readonly charges: readonly CreditedCharge[] } {
  const charges: CreditedCharge[] = [];
  let left = credits;
  for (const { creditLineId, lineItemId, amount } of setOff) {
    let open = amount;
    left = left.map((credit) => {
      const own = credit.rest.filter((line) => line.lineItemId === lineItemId);
      const { within, beyond } = divideByNet(own, open, credit.invoice.currency);
      open = open.minus(sumOfNet(within));
      charges.push(...within.map((line) => ({ ...line, creditLineId, isOwn: false })));
      const others = credit.rest.filter((line) => line.lineItemId !== lineItemId);
      return { ...credit, rest: [...others, ...beyond] };
    });
  }
  return { left, charges };
}

type Written = {
  readonly notes: readonly NewUnusedNote[];
  readonly groups: readonly NewGroup[];
};

const groupOf = (unit: Unit, { invoice }: PlannedCredit) => ({
  kind: 'credit_note.finalized',
  entityType: 'credit_note',
  entityId: unit.newId('cn'),
  customerId: invoice.customer_id,
  currency: invoice.currency,
});

/** Lowers what invoices leave to be paid, each by a note. */
async function lower(unit: Unit, credits: readonly PlannedCredit[]): Promise<Written> {
  const notes: NewUnusedNote[] = [];
  const groups: NewGroup[] = [];
  for (const credit of credits) {
    const { invoice, owed } = credit;
    if (owed.length === 0) continue;
    const total = sumOfGross(owed);
    await adjust(unit, invoice, total);
    const group = groupOf(unit, credit);
    notes.push({ id: group.entityId, invoice, lines: owed, total, transactionId: null });
    groups.push({ ...group, postings: postingsOfAdjustment(total) });
  }
  return { notes, groups };
}

/** Gives what customers have paid to a wallet of each, by a note on every invoice. */
async function payOut(
  unit: Unit,
  credits: readonly PlannedCredit[],
): Promise<Written & { readonly transactions: readonly WalletTransactionRow[] }> {
  const notes: NewUnusedNote[] = [];
  const groups: NewGroup[] = [];
  const transactions: WalletTransactionRow[] = [];
  const paid = credits.filter(({ rest }) => rest.length > 0);
  const byCustomer = groupBy(paid, ({ invoice }) => invoice.customer_id);
  for (const [customerId, own] of [...byCustomer].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )) {
    const { currency, subscription_id: id } = assertPresent(own[0], 'a credit').invoice;
    const wallet = await lockRefundWallet(unit, { customerId, currency });
    const moved = await addCredits(unit, wallet, {
      credits: sumOf(own.map(({ rest }) => sumOfGross(rest))),
      reason: 'SUBSCRIPTION_CREDIT_GRANT',
      ...(id === null ? {} : { reference: { type: 'EXTERNAL', id } }),
      description: 'Unused time of charges in advance',
    });
    transactions.push(moved.transaction);
    for (const credit of own) {
      const { invoice, rest: lines } = credit;
      const total = sumOfGross(lines);
      const group = groupOf(unit, credit);
      notes.push({
        id: group.entityId,
        invoice,
        lines,
        total,
        transactionId: moved.transaction.id,
      });
      groups.push({ ...group, postings: postingsOfRefund(total, wallet.id) });
    }
  }
  return { notes, groups, transactions };
}

/** Stores what is given back of locked invoices: negative lines of drafts, and notes. */
export async function storeCredits(
  unit: Unit,
  credits: readonly PlannedCredit[],
  setOff: readonly SetOff[],
): Promise<GivenCredit> {
  const { left, charges } = takeSetOff(credits, setOff);
  const drafts = left.filter(({ invoice }) => isIn(INVOICE, 'draft', invoice.invoice_status));
  const final = left.filter((one) => !drafts.includes(one));
  const own: CreditedCharge[] = [];
  for (const { invoice, owed } of drafts) {
    const lowered = await creditDraft(unit, invoice, owed);
    own.push(...lowered);
  }
  await storeCreditedCharges(unit, [...charges, ...own]);
  const lowered = await lower(unit, final);
  const paidOut = await payOut(unit, final);
  await storeUnusedNotes(unit, [...lowered.notes, ...paidOut.notes]);
  await postGroups(unit, [...lowered.groups, ...paidOut.groups]);
  return { ...sumsOf(left, charges), transaction: paidOut.transactions[0] ?? null };
}
