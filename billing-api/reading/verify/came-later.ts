import type { Decimal } from '../../../contract/number/decimal.js';
import { mustGet, zip } from '../../../runtime/failure.js';
import type { InvoiceInputs } from '../../domain/invoice/invoice.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';
import { readLatePeriods } from '../../invoicing/compute/late-query.js';
import { inputsOfParts, withoutLate } from '../../invoicing/compute/usage-owners.js';
import { findLatePeriods } from '../../invoicing/drafts/late-queries.js';
import type { Reading } from '../../records/occasion.js';
import { mustRead } from '../../records/unit.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';
import { readCheckpoints } from '../../usage/watermark/checkpoints.js';

/** Usage of a line of a stored invoice that came after its watermark. */
export type LaterUsage = {
  readonly lineItemId: string;
  readonly displayName: string;
  /** Below 0 where what is counted has become less. */
  readonly quantity: Decimal;
  readonly eventCount: number;
};

/** What is counted now of the lines of stored inputs, less what they counted. */
function differenceOf(stored: InvoiceInputs, now: InvoiceInputs): readonly LaterUsage[] {
  const nameOf = new Map(stored.lineItems.map(({ id, displayName }) => [id, displayName]));
  return [...stored.usage].flatMap(([lineItemId, before]) => {
    const after = mustGet(now.usage, lineItemId, 'the usage of a line');
    const quantity = after.usage.minus(before.usage);
    const eventCount = after.eventCount - before.eventCount;
    if (quantity.isZero() && eventCount === 0) return [];
    const displayName = mustGet(nameOf, lineItemId, 'a line item');
    return [{ lineItemId, displayName, quantity, eventCount }];
  });
}

/**
 * What came of the usage of an invoice after its watermark, from minutes. Null where it cannot be
 * told: its lines were given, or events that it counted have been removed since.
 */
export async function readCameLater(
  dependencies: UsageReadDependencies,
  reading: Reading,
  { id, inputs }: { readonly id: string; readonly inputs: InvoiceInputs },
): Promise<readonly LaterUsage[] | null> {
  const { environment } = reading;
  const { ends }: { readonly ends: readonly PartitionEnd[] } = await readCheckpoints(
    dependencies.database,
  );
  const queries = await mustRead(dependencies, reading, (unit) => findLatePeriods(unit, [id]));
  const [now] = (await readLatePeriods(dependencies, { environment, ends }, queries)).values();
  if (now === undefined) return null;
  return zip(inputsOfParts(withoutLate(inputs)), inputsOfParts(now.inputs)).flatMap(
    ([before, after]) => differenceOf(before, after),
  );
}
