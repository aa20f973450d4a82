import type { InvoiceInputs } from '../../domain/invoice/invoice.js';
import type { UsageOwner } from '../../domain/usage/usage-owner.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { DocumentLine, InvoiceDocument } from '../../documents/invoice-document.js';
import type { UsageOfLines } from './read-line-usage.js';

/** Whose usage a stored invoice counts. */
export function usageOwnersOf(
  { header: { customer } }: InvoiceDocument,
  { usageOf }: Pick<InvoiceInputs, 'usageOf'>,
): readonly UsageOwner[] {
  return usageOf ?? [{ customerId: customer.id, externalId: customer.external_id }];
}

/**
 * What the lines of an invoice were priced from: its own ones, those of each grouped child, and
 * those of each late period in the same order.
 */
export function inputsOfParts(inputs: InvoiceInputs): readonly InvoiceInputs[] {
  const { children = [], late = [] } = inputs;
  return [
    inputs,
    ...children.map((child) => child.inputs),
    ...late.flatMap((period) => inputsOfParts(period.inputs)),
  ];
}

/** Inputs of a period alone, without what they charge of others (docs/domain.md 13.8). */
export function withoutLate(inputs: InvoiceInputs): InvoiceInputs {
  const isOwn = ([name]: readonly [string, unknown]): boolean =>
    name !== 'late' && name !== 'chargedLate';
  // The members that are left out are optional.
  return Object.fromEntries(Object.entries(inputs).filter(isOwn)) as InvoiceInputs;
}

/** Usage that is put into inputs, part by part. */
function withNextUsage(inputs: InvoiceInputs, next: () => UsageOfLines): InvoiceInputs {
  const { children, late } = inputs;
  const usage = next();
  const ofChildren = children?.map((child) => ({
    ...child,
    inputs: { ...child.inputs, usage: next() },
  }));
  const ofLate = late?.map((period) => ({
    ...period,
    inputs: withNextUsage(period.inputs, next),
  }));
  return {
    ...inputs,
    usage,
    ...(ofChildren === undefined ? {} : { children: ofChildren }),
    ...(ofLate === undefined ? {} : { late: ofLate }),
  };
}

/** Inputs with other usage: one for each part, in the order of `inputsOfParts`. */
export function withUsageOfParts(
  inputs: InvoiceInputs,
  usages: readonly UsageOfLines[],
): InvoiceInputs {
  const left = usages.values();
  return withNextUsage(inputs, () => assertPresent(left.next().value, 'the usage of a part'));
}

/** Which line of a stored invoice it is. */
type NamedLine = Pick<DocumentLine, 'subscription_line_item_id' | 'late_invoice_id'>;

/** What the line of a line item was priced from. */
export function partOfLine(
  inputs: InvoiceInputs,
  { subscription_line_item_id: lineItemId, late_invoice_id: lateId }: NamedLine,
): InvoiceInputs {
  const late = inputs.late?.find(({ invoiceId }) => invoiceId === lateId);
  const parts = inputsOfParts(late?.inputs ?? inputs);
  return parts.find(({ lineItems }) => lineItems.some(({ id }) => id === lineItemId)) ?? inputs;
}
