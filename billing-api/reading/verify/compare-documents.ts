import type { Decimal } from '../../../contract/number/decimal.js';
import { COUPON_APPLICATIONS } from '../../declarations/invoices/coupon-application.resource.js';
import { INVOICE_LINES } from '../../declarations/invoices/invoice-line.resource.js';
import { INVOICE_TAXES } from '../../declarations/invoices/invoice-tax.resource.js';
import { plain } from '../../../contract/number/decimal.js';
import type { AppliedTax, CouponApplication } from '../../domain/adjustments/adjustments.js';
import type { InvoiceTotals } from '../../domain/invoice/invoice.js';
import type { Columns } from '../../records/columns.js';
import type {
  DocumentCoupon,
  DocumentLine,
  DocumentTax,
  InvoiceDocument,
} from '../../documents/invoice-document.js';

/** A member that is stored otherwise than it computes. */
export type Difference = {
  /** Null for a member of the invoice as a whole. */
  readonly lineItemId: string | null;
  readonly member: string;
  /** Null where it is not stored, or not computed. */
  readonly stored: string | null;
  readonly computed: string | null;
};

/** What an invoice computes to, as far as it is stored. */
export type Recomputed = {
  readonly lines: readonly DocumentLine[];
  readonly couponApplications: readonly CouponApplication[];
  readonly taxes: readonly AppliedTax[];
  readonly totals: InvoiceTotals;
};

/** Long values, such as traces, are shown by their beginning. */
const SHOWN_LENGTH_MAX = 200;

const shown = (text: string): string => text.slice(0, SHOWN_LENGTH_MAX);

function textOf(columns: Columns, name: string, value: unknown): string {
  const written = columns[name]?.toJson(value);
  return typeof written === 'string' ? written : JSON.stringify(written ?? null);
}

/** Members whose values say which record it is, not what was computed. */
const OF_RECORD = new Set(['invoice_id', 'entity_id']);

type Part = DocumentLine | DocumentCoupon | DocumentTax;

function comparePart(
  columns: Columns,
  members: readonly string[],
  {
    stored,
    computed,
    place,
  }: {
    readonly stored: Part;
    readonly computed: Readonly<Record<string, unknown>>;
    readonly place: { readonly lineItemId: string | null; readonly prefix: string };
  },
): readonly Difference[] {
  const values: Readonly<Record<string, unknown>> = stored;
  return members.flatMap((name) => {
    const [was, is] = [values[name], computed[name]].map((value) => textOf(columns, name, value));
    if (was === is || was === undefined || is === undefined) return [];
    const { lineItemId, prefix } = place;
    return [{ lineItemId, member: prefix + name, stored: shown(was), computed: shown(is) }];
  });
}

function compareLines(
  stored: readonly DocumentLine[],
  computed: readonly DocumentLine[],
): readonly Difference[] {
  const members = Object.keys(INVOICE_LINES.columns).filter((name) => !OF_RECORD.has(name));
  const places = Array.from({ length: Math.max(stored.length, computed.length) }, (_, at) => at);
  return places.flatMap((at) => {
    const [was, is] = [stored[at], computed[at]];
    if (was !== undefined && is !== undefined) {
      const place = { lineItemId: was.id, prefix: '' };
      return comparePart(INVOICE_LINES.columns, members, { stored: was, computed: is, place });
    }
    const amount = (line: DocumentLine | undefined) =>
      line === undefined ? null : `${line.display_name} ${plain(line.amount)}`;
    const lineItemId = was?.id ?? null;
    return [{ lineItemId, member: 'line', stored: amount(was), computed: amount(is) }];
  });
}

const couponOf = (application: CouponApplication) => ({
  coupon_id: application.couponId,
  discount_type: application.discountType,
  discount_percentage: application.discountPercentage,
  discounted_amount: application.discountedAmount.value,
  original_price: application.originalPrice.value,
  final_price: application.finalPrice.value,
});

const taxOf = ({ association, taxableAmount, taxAmount }: AppliedTax) => ({
  entity_type: association.level,
  tax_rate_id: association.rate.id,
  taxable_amount: taxableAmount.value,
  tax_amount: taxAmount.value,
});

/** Coupons and taxes, one after the other; the invoice as a whole has them. */
function compareList<Row extends Part>(
  columns: Columns,
  stored: readonly Row[],
  {
    computed,
    name,
  }: {
    readonly computed: readonly Readonly<Record<string, unknown>>[];
    readonly name: string;
  },
): readonly Difference[] {
  if (stored.length !== computed.length) {
    const counts = { stored: String(stored.length), computed: String(computed.length) };
    return [{ lineItemId: null, member: name, ...counts }];
  }
  return stored.flatMap((row, at) => {
    const is = computed[at] ?? {};
    const place = { lineItemId: null, prefix: `${name}.${at}.` };
    return comparePart(columns, Object.keys(is), { stored: row, computed: is, place });
  });
}

/** The sums of an invoice, and what follows from them (docs/domain.md 13.2). */
function compareTotals({ header }: InvoiceDocument, totals: InvoiceTotals): readonly Difference[] {
  const isCredit = header.invoice_type === 'CREDIT';
  const total = isCredit ? totals.subtotal.value : totals.total.value;
  const due = total.minus(header.adjustment_amount);
  const remaining = due.minus(header.amount_paid);
  const positive = (value: Decimal): Decimal => (value.isNegative() ? value.times(0) : value);
  const expected: readonly (readonly [string, Decimal, Decimal])[] = [
    ['subtotal', header.subtotal, totals.subtotal.value],
    ['total_discount', header.total_discount, totals.totalDiscount.value],
    [
      'total_prepaid_credits_applied',
      header.total_prepaid_credits_applied,
      totals.totalPrepaidCreditsApplied.value,
    ],
    ['total_tax', header.total_tax, totals.totalTax.value],
    ['total', header.total, total],
    ['amount_due', header.amount_due, due],
    ['amount_remaining', header.amount_remaining, positive(remaining)],
  ];
  return expected
    .filter(([, stored, computed]) => !stored.equals(computed))
    .map(([member, stored, computed]) => ({
      lineItemId: null,
      member,
      stored: plain(stored),
      computed: plain(computed),
    }));
}

/** Every member of a stored invoice that differs from what it computes to. Reads nothing. */
export function compareDocuments(
  document: InvoiceDocument,
  { lines, couponApplications, taxes, totals }: Recomputed,
): readonly Difference[] {
  return [
    ...compareLines(document.lines, lines),
    ...compareList(COUPON_APPLICATIONS.columns, document.coupons, {
      computed: couponApplications.map(couponOf),
      name: 'coupon_applications',
    }),
    ...compareList(INVOICE_TAXES.columns, document.taxes, {
      computed: taxes.map(taxOf),
      name: 'taxes',
    }),
    ...compareTotals(document, totals),
  ];
}
