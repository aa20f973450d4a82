import { ZERO } from '../../../contract/decimal.js';
import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { isSkipped } from '../../domain/invoice/build/zero-test.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import type { InvoiceConfig } from '../../platform/settings/invoice-config.js';
import { moveRecords } from '../../records/change-records.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Patch } from '../../records/resource.js';
import type { Unit } from '../../records/unit.js';
import { invoiceToDto } from '../answer/invoice-answer.js';
import type { InvoiceHeader } from '../document/invoice-document.js';
import type { StoredInvoice } from './draft-invoices.js';
import { documentOf, type StoredParts } from './document-parts.js';
import { takeInvoiceNumbers } from './take-numbers.js';

type InvoicePatch = Patch<(typeof INVOICES)['columns']>;

/** A locked draft, and how it stands after its last computation. */
export type FinalDraft = {
  readonly row: InvoiceRow;
  /** What a computation changes of the header (`computedMembers`). */
  readonly computed: InvoicePatch;
  readonly parts: StoredParts;
  /** The number that a caller gave to it; taken from the series when absent. */
  readonly number?: string | null;
};

/**
 * The members of the header that a computation decides. The due date stays: the draft was made with
 * it, or PUT has changed it.
 */
export function computedMembers(header: InvoiceHeader): InvoicePatch {
  return {
    last_computed_at: header.last_computed_at,
    data_until: header.data_until,
    subtotal: header.subtotal,
    total: header.total,
    total_discount: header.total_discount,
    total_tax: header.total_tax,
    total_prepaid_credits_applied: header.total_prepaid_credits_applied,
    adjustment_amount: header.adjustment_amount,
    amount_due: header.amount_due,
    amount_paid: header.amount_paid,
    amount_remaining: header.amount_remaining,
    overpaid_amount: header.overpaid_amount,
    customer: header.customer,
    subscription: header.subscription,
  };
}

/** Whether an invoice as it was computed charges nothing (docs/domain.md 13.1.3). */
export function chargesNothing({ row, parts }: Pick<FinalDraft, 'row' | 'parts'>): boolean {
  return isSkipped({
    invoiceType: row.invoice_type,
    billingReason: row.billing_reason,
    amounts: parts.lines.map(({ amount }) => amount),
  });
}

function finalPatch(
  unit: Unit,
  { row, computed }: FinalDraft,
  { number, series }: { readonly number: string; readonly series: string | null },
): InvoicePatch {
  const due = computed.amount_due ?? row.amount_due;
  // Nothing to pay is paid (docs/domain.md 5.3).
  const isPaid = due.lessThanOrEqualTo(ZERO);
  return {
    ...computed,
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
export function asComputed({ row, parts }: StoredInvoice): FinalDraft {
  return { row, computed: {}, parts };
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
): Promise<readonly InvoiceRow[] | Refusal> {
  return moveRecords(unit, INVOICES, {
    lifecycle: INVOICE,
    move: 'skip',
    to: 'SKIPPED',
    changes: drafts.map(({ row, computed }) => ({
      row,
      patch: { ...computed, finalize_at: null },
    })),
    told: () => null,
  });
}

/**
 * Finalizes locked drafts whose parts are stored, in one transaction with everything that follows
 * (docs/domain.md 13.1.4): those that charge nothing are skipped, the others get numbers and
 * events. The numbers are taken last, because other finalizations of the series wait from then on.
 */
export async function finalizeDrafts(
  unit: Unit,
  config: InvoiceConfig,
  drafts: readonly FinalDraft[],
): Promise<Finalized | Refusal> {
  const empty = drafts.filter(chargesNothing);
  const charged = drafts.filter((draft) => !empty.includes(draft));
  const skippedRows = await skipDrafts(unit, empty);
  if (isRefusal(skippedRows)) return skippedRows;
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
  if (isRefusal(finalRows)) return finalRows;
  return { finalized: storedAs(finalRows, charged), skipped: storedAs(skippedRows, empty) };
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
