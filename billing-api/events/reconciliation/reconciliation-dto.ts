import { formatInstant } from '../../../contract/instant.js';
import { differenceOf, type Balance, type Reconciliation } from './hour-ledger.js';
import type { DateTime } from '../../records/record-dto.js';

/** Query of GET /events/reconciliation; the range is widened to whole hours. */
export interface ReconciliationQuery {
  /** A day before the end when absent, at most 31 days. */
  start_time?: DateTime;
  /** Now when absent. */
  end_time?: DateTime;
}

/**
 * Events by where they are; accepted − counted − unmatched − duplicate − erased − expired −
 * withdrawn − pending = difference.
 */
export interface BalanceDto {
  /** Counted when events are decoded, before anything else happens to them. @isInt */
  accepted: number;
  /** Their customer and at least one meter exist. @isInt */
  counted: number;
  /** Kept, and counted as soon as customer and meter exist. @isInt */
  unmatched: number;
  /** Of `unmatched`: the customer does not exist. @isInt */
  unmatched_customer: number;
  /** Of `unmatched`: the customer exists, but no meter that matches. @isInt */
  unmatched_meter: number;
  /** Duplicates of an id, which count nothing. @isInt */
  duplicate: number;
  /** Of `duplicate`: they differ from the event that counts. @isInt */
  conflict: number;
  /** Accepted, and removed since by an operator, with their usage. @isInt */
  erased: number;
  /** Removed by retention, whether they were counted or unmatched before. @isInt */
  expired: number;
  /** Withdrawn by a correction that is in force. @isInt */
  withdrawn: number;
  /** In the log and not yet processed. @isInt */
  pending: number;
  /** 0, unless events were lost or doubled. @isInt */
  difference: number;
}

export interface ReconciliationHourDto extends BalanceDto {
  /** Start of the hour of receipt in UTC. */
  hour: DateTime;
}

export interface ReconciliationDto {
  items: ReconciliationHourDto[];
  totals: BalanceDto;
}

function balanceToDto(balance: Balance): BalanceDto {
  const { unmatchedCustomer, unmatchedMeter } = balance;
  return {
    accepted: balance.accepted,
    counted: balance.counted,
    unmatched: unmatchedCustomer + unmatchedMeter,
    unmatched_customer: unmatchedCustomer,
    unmatched_meter: unmatchedMeter,
    duplicate: balance.duplicate,
    conflict: balance.conflict,
    erased: balance.erased,
    expired: balance.expired,
    withdrawn: balance.withdrawn,
    pending: balance.pending,
    difference: differenceOf(balance),
  };
}

export function reconciliationToDto({ hours, totals }: Reconciliation): ReconciliationDto {
  return {
    items: hours.map((hour) => ({ hour: formatInstant(hour.hourMs), ...balanceToDto(hour) })),
    totals: balanceToDto(totals),
  };
}
