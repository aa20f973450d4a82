import { plain, ZERO } from '../../../contract/number/decimal.js';
import { instantToDto, type DateTime } from '../../records/record-dto.js';
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

/** Usage of the period of a line that came after the watermark of the invoice. */
export interface CameLaterDto {
  subscription_line_item_id: string;
  display_name: string;
  /** What is counted now, less what the invoice counted. */
  quantity: string;
  /** @isInt */
  event_count: number;
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
  /** Events received before it are in the invoice. */
  watermark: DateTime | null;
  /** What came after the watermark, of which `GET /billing/late-usage` tells; null if unknown. */
  came_later: CameLaterDto[] | null;
  /** In words: such as `same as of 2027-02-01T02:00:00.000Z; 90 units came later`. */
  summary: string;
}

function summaryOf({ document, fromInputs, fromEvents, cameLater }: Verification): string {
  const isSame = fromInputs.length === 0 && (fromEvents === null || fromEvents.length === 0);
  const { data_until: until } = document.header;
  const said = `${isSame ? 'same' : 'different'} as of ${instantToDto(until) ?? 'no watermark'}`;
  if (cameLater === null) return said;
  if (cameLater.length === 0) return `${said}; nothing came later`;
  const quantity = cameLater.reduce((sum, one) => sum.plus(one.quantity), ZERO);
  return quantity.isNegative()
    ? `${said}; ${plain(quantity.negated())} units do not count any more`
    : `${said}; ${plain(quantity)} units came later`;
}

function differenceToDto(
  from: InvoiceDifferenceDto['from'],
  { lineItemId, member, stored, computed }: Difference,
): InvoiceDifferenceDto {
  return { from, line_item_id: lineItemId, member, stored, computed };
}

export function verificationToDto(verification: Verification): VerificationDto {
  const { document, computation, fromInputs, fromEvents, reason, cameLater } = verification;
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
    watermark: instantToDto(document.header.data_until),
    came_later:
      cameLater === null
        ? null
        : cameLater.map(({ lineItemId, displayName, quantity, eventCount }) => ({
            subscription_line_item_id: lineItemId,
            display_name: displayName,
            quantity: plain(quantity),
            event_count: eventCount,
          })),
    summary: summaryOf(verification),
  };
}
