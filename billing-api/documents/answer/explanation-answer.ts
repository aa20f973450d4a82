import { formatInstant } from '../../../contract/instant.js';
import { formatMoney, Money } from '../../domain/money/money.js';
import { instantToDto } from '../../records/record-dto.js';
import type { DocumentLine, InvoiceHeader } from '../invoice-document.js';
import {
  commitmentToDto,
  lateToDto,
  maximumToDto,
  pricingToDto,
  prorationToDto,
  roundingToDto,
} from './explained-charge.js';
import { usageMembers } from './explained-usage.js';
import { windowsToDto, type WindowsPage } from './explained-windows.js';
import type { ExplanationDto } from './explanation-dto.js';

/**
 * Explains how the amount of a line was computed (docs/http.md 6), with one page of its windows.
 */
export function explanationToDto(
  line: DocumentLine,
  header: InvoiceHeader,
  page: WindowsPage,
): ExplanationDto {
  const { trace } = line;
  const { currency } = header;
  const { timezone, pricing, windows, commitment, proration } = trace;
  return {
    invoice_id: header.id,
    line_item_id: line.id,
    currency,
    timezone,
    period: {
      start: formatInstant(trace.window.startMs),
      end: formatInstant(trace.window.endMs),
    },
    ...usageMembers(trace, header),
    watermark: instantToDto(header.data_until),
    pricing: pricing === null ? null : pricingToDto(pricing),
    windows: windows === null ? null : windowsToDto(windows, timezone, page),
    commitment: commitment === null ? null : commitmentToDto(commitment),
    maximum: trace.maximum === undefined ? null : maximumToDto(trace.maximum),
    proration: proration === null ? null : prorationToDto(proration),
    rounding: roundingToDto(trace.rounding),
    charged_before: trace.chargedBefore === undefined ? null : formatMoney(trace.chargedBefore),
    late: trace.late === undefined ? null : lateToDto(trace.late),
    discounts: trace.discounts.map(({ couponAssociationId, base, amount }) => ({
      coupon_association_id: couponAssociationId,
      base: formatMoney(base),
      amount: formatMoney(amount),
    })),
    amount: formatMoney(new Money(line.amount, currency)),
  };
}
