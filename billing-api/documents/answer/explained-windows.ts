import { Decimal, plain } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { localText } from '../../domain/calendar/local-time.js';
import type { Proration } from '../../domain/calendar/proration.js';
import type { PricedWindow } from '../../domain/rating/priced-window.js';
import { windowCharge } from '../../domain/rating/window-charge.js';
import type { ExplainedWindowDto, ExplainedWindowsDto } from './explanation-dto.js';

/** The page of windows that every line shows. */
export type WindowsPage = { readonly limit: number; readonly offset: number };

const COEFFICIENT_DIGITS = 18;

/** The covered share of a full period, half-up to 18 digits. */
export function coefficientOf({ coveredMs, fullMs }: Proration): string {
  const coefficient = new Decimal(coveredMs).dividedBy(fullMs);
  return plain(coefficient.toDecimalPlaces(COEFFICIENT_DIGITS, Decimal.ROUND_HALF_UP));
}

function windowToDto(window: PricedWindow, timezone: string): ExplainedWindowDto {
  const { commitment, utilized, overage, trueUp, charge } = windowCharge(window);
  return {
    start: formatInstant(window.startMs),
    end: formatInstant(window.endMs),
    local_start: localText(window.startMs, timezone),
    group: window.group,
    quantity: plain(window.quantity),
    price_id: window.rule.price.id,
    bucket_id: window.rule.bucketId,
    usage_amount: plain(window.usageAmount),
    commitment: commitment === null ? null : plain(commitment),
    scale: window.scale === null ? null : coefficientOf(window.scale),
    utilized: plain(utilized),
    overage: plain(overage),
    true_up: plain(trueUp),
    charge: plain(charge),
  };
}

export function windowsToDto(
  windows: readonly PricedWindow[],
  timezone: string,
  { limit, offset }: WindowsPage,
): ExplainedWindowsDto {
  const shown = windows.slice(offset, offset + limit);
  return {
    items: shown.map((window) => windowToDto(window, timezone)),
    pagination: { limit, offset, total: windows.length },
  };
}
