import { mustGet } from '../../../runtime/failure.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import type { InvoiceInputs } from '../../domain/invoice/invoice.js';
import { requiredUsage } from '../../domain/invoice/required-usage.js';
import { selectLines } from '../../domain/invoice/select-lines.js';
import type { LineMeter } from '../../domain/usage/line-meter.js';
import type { UsageOwner } from '../../domain/usage/usage-owner.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';
import type { CellQuery } from '../../usage/store/cell-query.js';
import type { UsageReader } from '../../usage/store/usage-reader.js';
import { usageOfOwners } from '../../usage/usage-customers.js';
import { NO_GROUPING } from '../../usage/usage-grouping.js';
import type { LineUsageQuery } from './line-usage-query.js';
import type { LinesQuery } from './read-line-usage.js';

/** Reads usage from the stored events alone, without minutes, exactly below the ends. */
export function readerOfEvents(
  usage: UsageReader,
  ends: readonly PartitionEnd[],
): Pick<UsageReader, 'read'> {
  return {
    read: (batch) => {
      const all = batch.queries.map((query): [CellQuery, number] => [query, -Infinity]);
      return usage.read({ ...batch, bound: { ends, eventsFrom: new Map(all) } });
    },
  };
}

/** The usage that the lines of stored inputs were priced from, to be read again. */
export function storedLines(
  inputs: InvoiceInputs,
  meterOf: (meter: LineMeter) => EffectiveMeter,
): readonly LineUsageQuery[] {
  const lines = selectLines(inputs);
  const lineItems = new Map(lines.map(({ lineItem }) => [lineItem.id, lineItem]));
  return requiredUsage(lines).map((requirement) => {
    const lineItem = mustGet(lineItems, requirement.lineItemId, 'a selected line item');
    const { meter } = lineItem;
    if (meter === null) throw new TypeError(`usage line ${lineItem.id} has no meter`);
    return { requirement, lineItem, meter: meterOf(meter) };
  });
}

/** A query of usage that nothing splits into groups. */
export function ungrouped(
  owners: readonly UsageOwner[],
  lines: readonly LineUsageQuery[],
): LinesQuery {
  const customers = usageOfOwners(owners);
  return { customers, lines, grouping: NO_GROUPING, featureIds: new Map() };
}
