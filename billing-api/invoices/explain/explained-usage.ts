import { plain } from '../../../contract/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { meterToDto } from '../../catalog/meters/meter.resource.js';
import type { AllowanceTrace } from '../../domain/entitlement/allowance-trace.js';
import type { LineTrace, UsageTrace } from '../../domain/invoice/line-trace.js';
import type { InvoicePreview } from '../preview-invoice.js';
import type {
  ExplainedAllowanceDto,
  ExplainedMeterDto,
  ExplanationDto,
} from './explanation-dto.js';

function meterOf(
  { meterId, meterVersion, eventName, filters, filterValues }: UsageTrace,
  { metering }: InvoicePreview,
): ExplainedMeterDto {
  const meter = assertPresent(metering.meters.get(meterId), 'the meter of a line');
  return {
    id: meterId,
    version: meterVersion,
    event_name: eventName,
    filters: filters.map(({ key, values }) => ({ key, values: [...values] })),
    filter_values: Object.fromEntries(
      Object.entries(filterValues).map(([key, values]) => [key, [...values]]),
    ),
    aggregation: meterToDto(meter).aggregation,
  };
}

function allowanceToDto({ limit, resetPeriod, windows }: AllowanceTrace): ExplainedAllowanceDto {
  return {
    limit: limit === null ? null : plain(limit),
    reset_period: resetPeriod,
    windows: windows.map((window) => ({
      start: formatInstant(window.startMs),
      end: formatInstant(window.endMs),
      used_before: plain(window.usedBefore),
      used_until: plain(window.usedUntil),
      free: plain(window.free),
    })),
  };
}

type UsageMembers = Pick<ExplanationDto, 'meter' | 'customers' | 'event_count' | 'quantity'>;

/** The members of an explanation that describe usage; null or empty for other lines. */
export function usageMembers({ usage }: LineTrace, preview: InvoicePreview): UsageMembers {
  if (usage === null) return { meter: null, customers: [], event_count: null, quantity: null };
  const { raw, billed, allowance } = usage;
  return {
    meter: meterOf(usage, preview),
    customers: [preview.customer.id],
    event_count: usage.eventCount,
    quantity: {
      raw: plain(raw),
      allowance: allowance === null ? null : allowanceToDto(allowance),
      billed: plain(billed),
    },
  };
}
