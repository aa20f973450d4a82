import { ZERO } from '../../../contract/number/decimal.js';
import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import type { WalletRow } from '../../declarations/money/wallet.resource.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { isSkipped } from '../../domain/invoice/pricing/zero-test.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import type { InvoiceConfig } from '../../platform/settings/invoice-config.js';
import { moveRecords } from '../../records/change-records.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { postingsOfInvoice } from '../../domain/ledger/postings.js';
import { postGroups, type NewGroup } from '../../money/ledger/post-groups.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import type { StoredInvoice } from '../drafts/draft-invoices.js';
import { documentOf } from '../../documents/store/document-parts.js';
import {
  computedMembers,
  type FinalDraft,
  type InvoicePatch,
} from '../../documents/store/final-draft.js';
import { activatePaid } from '../../money/payments/activate-paid.js';
import { collectByGateway } from '../../money/payments/collect-by-gateway.js';
import { collectFromWallets } from '../../money/payments/collect-from-wallets.js';
import { lockWalletsOf } from '../../money/wallets/wallets-store.js';
import { giveExcess, lockExcessWallets } from './give-excess.js';
import { isPayable, payFromWallets, type PaidDraft } from './pay-from-wallets.js';
import { takeInvoiceNumbers } from './take-numbers.js';

/** Whether an invoice as it was computed charges nothing (docs/domain.md 13.1.3). */
export function chargesNothing({ row, parts }: Pick<FinalDraft, 'row' | 'parts'>): boolean {
  return isSkipped({
    invoiceType: row.invoice_type,
    billingReason: row.billing_reason,
    amounts: parts.lines.map(({ amount }) => amount),
  });
}

/**
 * What a draft says of itself, with what was computed since: the same members for every draft, so
 * that drafts which wallets pay and others can be written in one statement.
 */
const membersOf = ({ row, computed }: FinalDraft): InvoicePatch => ({
  ...computedMembers(row),
  ...computed,
});

function finalPatch(
  unit: Unit,
  draft: FinalDraft,
  { number, series }: { readonly number: string; readonly series: string | null },
): InvoicePatch {
  const { row, computed } = draft;
  const due = computed.amount_due ?? row.amount_due;
  // Nothing to pay is paid (docs/domain.md 5.3).
  const isPaid = due.lessThanOrEqualTo(ZERO);
  return {
    ...membersOf(draft),
    invoice_number: number,
    number_series: series,
    issue_date: row.issue_date ?? unit.now,
    finalized_at: unit.now,
    finalize_at: null,
    payment_status: isPaid ? 'SUCCEEDED' : 'PENDING',
    paid_at: isPaid ? unit.now : null,
  };
}

/** A draft that is finalized as it was just stored, because nothing can have changed since. */
export function asComputed(stored: StoredInvoice): FinalDraft {
  return { ...stored, computed: {} };
}

/** What became of drafts that were to be finalized, in the order of what was given. */
export type Finalized = {
  readonly finalized: readonly StoredInvoice[];
  /** Those that charge nothing. */
  readonly skipped: readonly StoredInvoice[];
};

async function skipDrafts(
  unit: Unit,
  drafts: readonly FinalDraft[],
): Promise<readonly InvoiceRow[]> {
  return moveRecords(unit, INVOICES, {
    lifecycle: INVOICE,
    move: 'skip',
    to: 'SKIPPED',
    changes: drafts.map((draft) => ({
      row: draft.row,
      patch: { ...membersOf(draft), finalize_at: null },
    })),
    told: () => null,
  });
}

/**
 * Finalizes locked drafts whose parts are stored, in one transaction with everything that follows
 * (docs/domain.md 13.1.4): those that charge nothing are skipped; of the others wallets pay what
 * they can, and they get postings, numbers and events. The numbers are taken when nothing more has
 * to be waited for, because other finalizations of the series wait from then on.
 */
export async function finalizeDrafts(
  unit: Unit,
  config: InvoiceConfig,
  drafts: readonly FinalDraft[],
): Promise<Finalized> {
  const empty = drafts.filter(chargesNothing);
  const charging = drafts.filter((draft) => !empty.includes(draft));
  // All wallets before the first head of the ledger: who debits one of them takes them so.
  const { prepaid, withWallet } = await lockWallets(unit, charging);
  const charged = await payFromWallets(unit, charging, prepaid);
  const skippedRows = await skipDrafts(unit, empty);
  await lockExcessWallets(unit, charged);
  await postGroups(unit, charged.map(groupOf));
  await giveExcess(unit, charged);
  const unnumbered = charged.filter(({ number = null }) => number === null);
  const taken = await takeInvoiceNumbers(unit, config, unnumbered.length);
  const numbers = new Map(zip(unnumbered, taken));
  const finalRows = await moveRecords(unit, INVOICES, {
    lifecycle: INVOICE,
    move: 'finalize',
    to: 'FINALIZED',
    changes: charged.map((draft) => {
      const { number: given = null } = draft;
      const taken =
        given === null
          ? mustGet(numbers, draft, 'a number for each invoice')
          : { number: given, series: null };
      return { row: draft.row, patch: finalPatch(unit, draft, taken) };
    }),
    told: (after, index) => {
      const { parts } = assertPresent(charged[index], 'a finalized draft');
      return invoiceToDto(documentOf(after, parts), null);
    },
  });
  const settled = await collect(unit, zip(finalRows, charged), withWallet);
  for (const row of settled) {
    await activatePaid(unit, row);
  }
  return { finalized: storedAs(settled, charged), skipped: storedAs(skippedRows, empty) };
}

const isAutomatic = ({ subscription }: InvoiceRow): boolean =>
  subscription?.collection_method === 'charge_automatically';

/** Whether what is left to pay is collected at once (docs/domain.md 17.3). */
const isCollected = (row: InvoiceRow): boolean =>
  isAutomatic(row) && row.payment_status === 'PENDING';

/**
 * Locks the wallets that may pay: PRE_PAID ones now, and POST_PAID ones when these are final.
 * Answers the former, and whose the latter are.
 */
async function lockWallets(unit: Unit, drafts: readonly FinalDraft[]) {
  const ownerOf = ({ row }: FinalDraft): string => row.customer_id;
  const wallets = await lockWalletsOf(unit, {
    PRE_PAID: drafts.filter(isPayable).map(ownerOf),
    POST_PAID: drafts.filter(({ row }) => isAutomatic(row)).map(ownerOf),
  });
  const isPrepaid = ({ wallet_type: type }: WalletRow): boolean => type === 'PRE_PAID';
  const later = wallets.filter((wallet) => !isPrepaid(wallet));
  return {
    prepaid: wallets.filter(isPrepaid),
    withWallet: new Set(later.map(({ customer_id: id }) => id)),
  };
}

/** Finalized invoices after wallets have paid what they can; a gateway charges the rest. */
async function collect(
  unit: Unit,
  invoices: readonly (readonly [InvoiceRow, FinalDraft])[],
  withWallet: ReadonlySet<string>,
): Promise<readonly InvoiceRow[]> {
  if (!invoices.some(([row]) => isCollected(row))) return invoices.map(([row]) => row);
  const paid: InvoiceRow[] = [];
  for (const [row, { parts }] of invoices) {
    const isPayer = isCollected(row) && withWallet.has(row.customer_id);
    const settled = isPayer ? await collectFromWallets(unit, row, parts.lines) : row;
    paid.push(settled);
  }
  const charged = await collectByGateway(unit, paid.filter(isCollected));
  const afterCharge = new Map(charged.map((row) => [row.id, row]));
  return paid.map((row) => afterCharge.get(row.id) ?? row);
}

/** The movement of money of a finalized invoice. */
function groupOf({ row, computed, shares, isFunding = false }: PaidDraft): NewGroup {
  const { subtotal, total_discount: discount, total_tax: tax, total } = { ...row, ...computed };
  const sums = { subtotal, discount, tax, total };
  return {
    customerId: row.customer_id,
    kind: 'invoice.finalized',
    entityType: 'invoice',
    entityId: row.id,
    currency: row.currency,
    postings: postingsOfInvoice({ ...sums, wallets: shares, isFunding }),
  };
}

function storedAs(
  rows: readonly InvoiceRow[],
  drafts: readonly FinalDraft[],
): readonly StoredInvoice[] {
  return rows.map((row, index) => {
    const { parts } = assertPresent(drafts[index], 'a draft');
    return { row, parts };
  });
}
