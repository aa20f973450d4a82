import { zip } from '../../../runtime/failure.js';
import type { Environment } from '../../../contract/environment.js';
import type { Interval } from '../../../contract/instant.js';
import { findEffectiveMeters } from '../../catalog/meters/effective-meters.js';
import { rulesOf } from '../../domain/invoice/pricing/rules.js';
import type { InvoiceResult } from '../../domain/invoice/invoice.js';
import { selectLines } from '../../domain/invoice/select-lines.js';
import type { InvoiceSnapshot } from '../../domain/invoice/snapshot/invoice-snapshot.js';
import type { UsageWatermark } from '../../domain/usage/watermark.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { mustRead } from '../../records/unit.js';
import { usageOfOwners, type UsageReadDependencies } from '../../usage/usage-customers.js';
import { NO_GROUPING } from '../../usage/usage-grouping.js';
import {
  readLineUsage,
  type LinesQuery,
  type UsageOfLines,
} from '../../invoicing/compute/read-line-usage.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { readerOfEvents, storedLines } from '../../invoicing/compute/stored-usage.js';
import { storedMeter } from '../../invoicing/compute/stored-meter.js';
import {
  inputsOfParts,
  usageOwnersOf,
  withUsageOfParts,
} from '../../invoicing/compute/usage-owners.js';

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
  const meterIds = parts.flatMap(({ lineItems }) =>
    lineItems.flatMap(({ meter }) => (meter === null ? [] : [meter.id])),
  );
  const now = await mustRead(dependencies, { environment }, ({ tx }) =>
    findEffectiveMeters(tx, meterIds),
  );
  const reader = readerOfEvents(dependencies.usage, watermark.ends);
  const asked = parts.map((part) => ({
    customers: usageOfOwners(usageOwnersOf(document, part)),
    lines: storedLines(part, (meter) => storedMeter(meter, watermark, now)),
    ...groups,
  }));
  const measured: UsageOfPart[] = [];
  for (const [{ period }, usage] of zip(parts, await readLineUsage(reader, environment, asked))) {
    if (isRefusal(usage)) return usage;
    measured.push({ period, usage });
  }
  return measured;
}

/**
 * Measures the usage of a stored invoice again, and prices it. Nothing of the stored usage is used.
 * @returns a refusal when events that it counted have been removed since.
 */
export async function measureAgain(
  dependencies: UsageReadDependencies,
  environment: Environment,
  invoice: MeasuredInvoice,
): Promise<InvoiceResult | Refusal> {
  const split = { grouping: NO_GROUPING, featureIds: new Map<string, string>() };
  const usages = await readUsageAgain(dependencies, environment, { ...invoice, ...split });
  if (isRefusal(usages)) return usages;
  const { inputs, rulesVersion } = invoice.snapshot;
  const measured = withUsageOfParts(
    inputs,
    usages.map(({ usage }) => usage),
  );
  return rulesOf(rulesVersion).priceInvoice(selectLines(inputs), measured);
}
