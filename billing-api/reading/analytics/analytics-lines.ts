import type { InstantMs } from '../../../contract/instant.js';
import type { CustomerRow } from '../../declarations/customers/customer.resource.js';
import { accept } from '../../records/refusal.js';
import { readOperation } from '../../records/operation.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import type { UsageOwner } from '../../domain/usage/usage-owner.js';
import { findUsageOwners } from '../../subscriptions/children-store.js';
import { findMetering, type Metering } from '../../subscriptions/lines/metering.js';
import type { LineRecords } from '../../subscriptions/line-records.js';
import {
  analyticsQueryFrom,
  type AnalyticsQuery,
  type AnalyticsRequest,
} from './analytics-query.js';
import { findAnalyticsRecords } from './analytics-records.js';
import { lineInRange, type AnalyticsLine } from './line-in-range.js';

/** The usage line items of a customer, with the records that they refer to. */
export type AnalyticsLines = {
  /** What the request asks for. */
  readonly query: AnalyticsQuery;
  readonly customer: CustomerRow;
  readonly lines: readonly AnalyticsLine[];
  readonly metering: Metering;
  readonly related: LineRecords;
  /** Whose usage counts for each subscription. */
  readonly usageOf: ReadonlyMap<string, readonly UsageOwner[]>;
  /** The billing periods of each subscription, by id. */
  readonly ledgers: ReadonlyMap<string, PeriodLedger>;
  readonly now: InstantMs;
};

/** The usage line items of a customer that overlap a range, in line order, from one snapshot. */
export const findAnalyticsLines = readOperation(
  async (unit, request: AnalyticsRequest): Promise<AnalyticsLines> => {
    const query = accept(analyticsQueryFrom(request, unit.now));
    const { external_customer_id: externalId, feature_ids: featureIds = [] } = request;
    const selection = { externalId, range: query.range, featureIds };
    const found = await findAnalyticsRecords(unit, selection);
    const { customer, related, ledgers } = found;
    const metering = await findMetering(unit.tx, related.lineItems);
    const lines = related.lineItems.flatMap((row) =>
      lineInRange(row, { query: selection, found, metering }),
    );
    const ids = lines.map(({ subscription }) => subscription.id);
    const itself = [{ customerId: customer.id, externalId: customer.external_id }];
    const usageOf =
      request.include_children === true
        ? await findUsageOwners(unit, ids)
        : new Map(ids.map((id) => [id, itself]));
    return { query, customer, lines, metering, related, usageOf, ledgers, now: unit.now };
  },
);
