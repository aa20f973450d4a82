import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import type { Environment } from '../../../contract/environment.js';
import type { Interval } from '../../../contract/instant.js';
import { findEffectiveMeters } from '../../catalog/meters/effective-meters.js';
import { rulesOf } from '../../domain/invoice/pricing/rules.js';
import type { InvoiceInputs, InvoiceResult } from '../../domain/invoice/invoice.js';
import { requiredUsage } from '../../domain/invoice/required-usage.js';
import { selectLines } from '../../domain/invoice/select-lines.js';
import type { InvoiceSnapshot } from '../../domain/invoice/snapshot/invoice-snapshot.js';
import type { UsageRequirement } from '../../domain/usage/line-usage.js';
import type { UsageWatermark } from '../../domain/usage/watermark.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { mustRead } from '../../records/unit.js';
import type { CellQuery } from '../../usage/store/cell-query.js';
import type { UsageReader } from '../../usage/store/usage-reader.js';
import { usageOfOwners, type UsageReadDependencies } from '../../usage/usage-customers.js';
import { NO_GROUPING } from '../../usage/usage-grouping.js';
import {
  readLineUsage,
  type LinesQuery,
  type UsageOfLines,
} from '../../invoicing/compute/read-line-usage.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { storedMeter } from './stored-meter.js';
import { inputsOfParts, usageOwnersOf } from './usage-owners.js';

/** Reads usage from the stored events alone, without minutes, exactly below the watermark. */
function readerOfEvents(usage: UsageReader, { ends }: UsageWatermark): Pick<UsageReader, 'read'> {
  return {
    read: (batch) => {
      const all = batch.queries.map((query): [CellQuery, number] => [query, -Infinity]);
      return usage.read({ ...batch, bound: { ends, eventsFrom: new Map(all) } });
    },
  };
}

/** A stored invoice whose usage was read from a log, with what it was computed from. */
export type MeasuredInvoice = {
  readonly document: InvoiceDocument;
  readonly snapshot: InvoiceSnapshot & { readonly watermark: UsageWatermark };
};

/** The usage of the lines of an invoice itself, or of a period of a grouped child. */
export type UsageOfPart = { readonly period: Interval; readonly usage: UsageOfLines };

/**
 * Reads the usage of a stored invoice again, that of each part of it, from the raw events below its
 * watermark and by the meters of that time, split into groups where these are asked for.
 * @returns a refusal when events that it counted have been removed since.
 */
export async function readUsageAgain(
  dependencies: UsageReadDependencies,
  environment: Environment,
  {
    document,
    snapshot: { inputs, watermark },
    ...groups
  }: MeasuredInvoice & Pick<LinesQuery, 'grouping' | 'featureIds'>,
): Promise<readonly UsageOfPart[] | Refusal> {
  const parts = inputsOfParts(inputs);
  const lines = parts.flatMap((part) => selectLines(part));
  const lineItems = new Map(lines.map(({ lineItem }) => [lineItem.id, lineItem]));
  const meterIds = lines.flatMap(({ meter }) => (meter === null ? [] : [meter.id]));
  const now = await mustRead(dependencies, { environment }, ({ tx }) =>
    findEffectiveMeters(tx, meterIds),
  );
  const queryOf = (requirement: UsageRequirement) => {
    const lineItem = mustGet(lineItems, requirement.lineItemId, 'a selected line item');
    const { meter } = lineItem;
    if (meter === null) throw new TypeError(`usage line ${lineItem.id} has no meter`);
    return { requirement, lineItem, meter: storedMeter(meter, watermark, now) };
  };
  const reader = readerOfEvents(dependencies.usage, watermark);
  const asked = parts.map((part) => ({
    customers: usageOfOwners(usageOwnersOf(document, part)),
    lines: requiredUsage(selectLines(part)).map(queryOf),
    ...groups,
  }));
  const measured: UsageOfPart[] = [];
  for (const [{ period }, usage] of zip(parts, await readLineUsage(reader, environment, asked))) {
    if (isRefusal(usage)) return usage;
    measured.push({ period, usage });
  }
  return measured;
}

/** An invoice without grouped children has none of their lines. */
const NO_CHILDREN: NonNullable<InvoiceInputs['children']> = [];

/**
 * Measures the usage of a stored invoice again, and prices it. Nothing of the stored usage is used.
 * @returns a refusal when events that it counted have been removed since.
 */
export async function measureAgain(
  dependencies: UsageReadDependencies,
  environment: Environment,
  invoice: MeasuredInvoice,
): Promise<InvoiceResult | Refusal> {
  const ungrouped = { grouping: NO_GROUPING, featureIds: new Map<string, string>() };
  const usages = await readUsageAgain(dependencies, environment, { ...invoice, ...ungrouped });
  if (isRefusal(usages)) return usages;
  const { inputs, rulesVersion } = invoice.snapshot;
  const [own, ...ofChildren] = usages;
  const { usage } = assertPresent(own, 'the usage of an invoice');
  const children = zip(inputs.children ?? NO_CHILDREN, ofChildren).map(([child, part]) => ({
    ...child,
    inputs: { ...child.inputs, usage: part.usage },
  }));
  const measured = { ...inputs, usage, ...(children.length === 0 ? {} : { children }) };
  return rulesOf(rulesVersion).priceInvoice(selectLines(inputs), measured);
}
