import type { Charge } from './payment-gateway.js';

/** The id of what Stripe names by its id or as a whole. */
export function idOf(
  reference: string | { readonly id: string } | null | undefined,
): string | null {
  return typeof reference === 'string' ? reference : (reference?.id ?? null);
}

/** What a charge is for, as Stripe keeps it. */
export function purposeOf({ paymentId, invoiceId, invoiceNumber }: Charge) {
  const ofInvoice = invoiceId === null ? {} : { invoice_id: invoiceId };
  return {
    metadata: { payment_id: paymentId, ...ofInvoice },
    ...(invoiceNumber === null ? {} : { description: `Invoice ${invoiceNumber}` }),
  };
}
