import type { InvoiceInputs } from '../../domain/invoice/invoice.js';
import type { UsageOwner } from '../../domain/usage/usage-owner.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';

/** Whose usage a stored invoice counts. */
export function usageOwnersOf(
  { header: { customer } }: InvoiceDocument,
  { usageOf }: Pick<InvoiceInputs, 'usageOf'>,
): readonly UsageOwner[] {
  return usageOf ?? [{ customerId: customer.id, externalId: customer.external_id }];
}

/** What the lines of an invoice were priced from: its own ones, and those of each grouped child. */
export function inputsOfParts(inputs: InvoiceInputs): readonly InvoiceInputs[] {
  const { children = [] } = inputs;
  return [inputs, ...children.map((child) => child.inputs)];
}

/** What the line of a line item was priced from. */
export function partOfLine(inputs: InvoiceInputs, lineItemId: string | null): InvoiceInputs {
  const parts = inputsOfParts(inputs);
  return parts.find(({ lineItems }) => lineItems.some(({ id }) => id === lineItemId)) ?? inputs;
}
