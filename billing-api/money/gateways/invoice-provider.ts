import type { Decimal } from '../../../contract/number/decimal.js';
import type { AmountsHere, AmountsThere } from '../../domain/payment/provider-amounts.js';
import type { ProviderLine } from '../../domain/payment/provider-lines.js';

/** An invoice as it is sent to a provider that has invoices of its own. */
export type SentInvoice = {
  readonly invoiceId: string;
  readonly invoiceNumber: string | null;
  /** Who pays, as the provider calls them. */
  readonly payerId: string;
  readonly currency: string;
  /** Days from the finalization to the due date. */
  readonly daysUntilDue: number;
  readonly lines: readonly ProviderLine[];
  /** What they add up to: the total of the invoice less what was paid before it was sent. */
  readonly asked: Decimal;
  readonly amounts: AmountsHere;
  /** Whether nothing is left to be paid. */
  readonly isPaid: boolean;
};

/** How the invoice stands at the provider. */
export type ProviderState = {
  readonly id: string;
  readonly status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
};

/** The invoice as the provider has it. */
export type ProviderInvoice = ProviderState & {
  readonly currency: string;
  /** Of a paid one, everything is paid but what was credited. */
  readonly amounts: AmountsThere;
  readonly pdfUrl: string | null;
};

/** What the provider did, or why it will not: also since it has no such invoice. */
export type ProviderAnswer<T> =
  | { readonly status: 'done'; readonly value: T }
  | { readonly status: 'refused' | 'unknown'; readonly reason: string };

/**
 * Who has invoices of its own, which are kept like those here (docs/domain.md 17.6). Everything
 * may be asked for again: what was done before is not done twice.
 * @throws GatewayUnavailable when it is to be asked again.
 */
export type InvoiceProvider = {
  /** How many lines an invoice may have there. */
  readonly linesMax: number;
  /** An empty draft, whose id is stored before anything else is done with it. */
  readonly begin: (invoice: SentInvoice) => Promise<ProviderAnswer<string>>;
  /**
   * Brings the provider's invoice to what ours is: lines, total, finalized, credited, paid.
   * @param run names this try among others, with its repetitions.
   */
  readonly complete: (
    invoice: SentInvoice,
    at: { readonly id: string; readonly run: string },
  ) => Promise<ProviderAnswer<ProviderState>>;
  /** Voids it; a draft there is removed. */
  readonly cancel: (id: string) => Promise<ProviderAnswer<ProviderState>>;
  readonly read: (id: string) => Promise<ProviderAnswer<ProviderInvoice>>;
};
