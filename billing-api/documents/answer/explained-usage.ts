import { plain } from '../../../contract/number/decimal.js';
import type { AllowanceTrace } from '../../domain/entitlement/allowance-trace.js';
import type { LineTrace, UsageTrace } from '../../domain/invoice/line-trace.js';
import { instantToDto, rateToDto } from '../../records/record-dto.js';
import type { InvoiceHeader } from '../invoice-document.js';
import type {
  ExplainedAllowanceDto,
  ExplainedMeterDto,
  ExplanationDto,
} from './explanation-dto.js';

function meterOf(
  { meterId, meterVersion, eventName, ...usage }: UsageTrace,
  isPricedByBucket: boolean,
): ExplainedMeterDto {
  const pricing = isPricedByBucket ? 'bucket' : 'period';
  const { field, expression, multiplier } = usage.eventValue;
  return {
    id: meterId,
    version: meterVersion,
    event_name: eventName,
    filters: usage.filters.map(({ key, values }) => ({ key, values: [...values] })),
    filter_values: Object.fromEntries(
      Object.entries(usage.filterValues).map(([key, values]) => [key, [...values]]),
    ),
    aggregation: {
      type: usage.aggregationType,
      field,
      expression,
      group_by: usage.groupBy,
      multiplier: multiplier === null ? null : rateToDto(multiplier),
      bucket_size: usage.bucketSize,
      bucket_pricing: usage.bucketSize === null ? null : pricing,
    },
  };
}

function allowanceToDto({ limit, resetPeriod, windows }: AllowanceTrace): ExplainedAllowanceDto {
  return {
    limit: limit === null ? null : plain(limit),
    reset_period: resetPeriod,
    windows: windows.map((window) => ({
      start: instantToDto(window.startMs),
      end: instantToDto(window.endMs),
      used_before: plain(window.usedBefore),
      used_until: plain(window.usedUntil),
      free: plain(window.free),
    })),
  };
}

type UsageMembers = Pick<ExplanationDto, 'meter' | 'customers' | 'event_count' | 'quantity'>;

/** The members of an explanation that describe usage; null or empty for other lines. */
export function usageMembers({ usage, windows }: LineTrace, header: InvoiceHeader): UsageMembers {
  if (usage === null) return { meter: null, customers: [], event_count: null, quantity: null };
  const { raw, billed, allowance } = usage;
  return {
    meter: meterOf(usage, windows !== null),
    customers: [...(usage.customerIds ?? [header.customer_id])],
    event_count: usage.eventCount,
    quantity: {
      raw: plain(raw),
      allowance: allowance === null ? null : allowanceToDto(allowance),
      billed: plain(billed),
    },
  };
}
