import type { InvoiceInputs } from '../../domain/invoice/invoice.js';
import type { UsageOwner } from '../../domain/usage/usage-owner.js';
import type { InvoiceDocument } from '../document/invoice-document.js';

/** Whose usage a stored invoice counts. */
export function usageOwnersOf(
  { header: { customer } }: InvoiceDocument,
  { usageOf }: Pick<InvoiceInputs, 'usageOf'>,
): readonly UsageOwner[] {
  return usageOf ?? [{ customerId: customer.id, externalId: customer.external_id }];
}
