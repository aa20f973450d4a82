import type { Interval } from '../../../contract/instant.js';
import type { WindowGrid } from '../calendar/usage-windows.js';
import type { Proration } from '../calendar/proration.js';
import type { LineAllowance } from '../entitlement/line-allowance.js';
import type { LineMeter } from '../usage/line-meter.js';
import type { LineItem } from './line-item.js';

/** A line that the invoice will have and that does not depend on usage. */
export type BillableFixedLine = {
  readonly lineItem: LineItem;
  /** Half-open; empty (start = end) for a ONETIME charge. */
  readonly period: Interval;
  /** Share of the full charge that a recurring line takes; null where nothing is scaled. */
  readonly proration: Proration | null;
  readonly meter: null;
};

/** A line that the invoice will have for the usage of a meter. */
export type BillableUsageLine = {
  readonly lineItem: LineItem;
  /** The usage window (docs/domain.md 7.7). */
  readonly period: Interval;
  readonly proration: null;
  readonly meter: LineMeter;
  /** How a bucketed meter cuts the usage window; null without buckets. */
  readonly bucketGrid: WindowGrid | null;
  /** The allowance of the line; null where no entitlement applies. */
  readonly allowance: LineAllowance | null;
};

export type BillableLine = BillableFixedLine | BillableUsageLine;
