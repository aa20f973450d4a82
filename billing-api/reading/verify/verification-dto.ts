import type { Difference } from './compare-documents.js';
import type { Verification } from './verify-invoice.js';

/** A member that is stored otherwise than it computes. */
export interface InvoiceDifferenceDto {
  /** What it was computed again from. */
  from: 'inputs' | 'events';
  /** The line of the invoice; null for a member of the invoice as a whole. */
  line_item_id: string | null;
  member: string;
  stored: string | null;
  computed: string | null;
}

export interface VerificationDto {
  invoice_id: string;
  /** @isInt */
  rules_version: number;
  /** Of the stored inputs. */
  inputs_sha256: string;
  /** Of what they computed to, the explanation of each line included. */
  result_sha256: string;
  /** Whether the stored inputs compute to the stored invoice, byte by byte. */
  same_from_inputs: boolean;
  /** Whether the stored events below its watermark do; null when that cannot be told. */
  same_from_events: boolean | null;
  /** Why it cannot be told. */
  reason: string | null;
  differences: InvoiceDifferenceDto[];
}

function differenceToDto(
  from: InvoiceDifferenceDto['from'],
  { lineItemId, member, stored, computed }: Difference,
): InvoiceDifferenceDto {
  return { from, line_item_id: lineItemId, member, stored, computed };
}

export function verificationToDto(verification: Verification): VerificationDto {
  const { document, computation, fromInputs, fromEvents, reason } = verification;
  return {
    invoice_id: document.header.id ?? computation.invoiceId,
    rules_version: computation.rulesVersion,
    inputs_sha256: computation.inputsSha256,
    result_sha256: computation.resultSha256,
    same_from_inputs: fromInputs.length === 0,
    same_from_events: fromEvents === null ? null : fromEvents.length === 0,
    reason,
    differences: [
      ...fromInputs.map((difference) => differenceToDto('inputs', difference)),
      ...(fromEvents === null ? [] : fromEvents.map((one) => differenceToDto('events', one))),
    ],
  };
}
