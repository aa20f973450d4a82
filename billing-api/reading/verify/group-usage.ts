import { sql } from 'slonik';
import { formatInstant } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { FEATURES } from '../../declarations/catalog/feature.resource.js';
import { decodeSnapshot } from '../../domain/invoice/snapshot/invoice-snapshot.js';
import { splitByGrouping, splitBySource } from '../../domain/invoice/split-usage.js';
import { Money } from '../../domain/money/money.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { collect, isRefusal, Refusal } from '../../records/refusal.js';
import { mustRead } from '../../records/unit.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';
import { readGroups, type Grouping } from '../../usage/usage-grouping.js';
import type { DocumentLine, InvoiceDocument } from '../../documents/invoice-document.js';
import { readInvoice } from '../../invoicing/invoices/read-invoice.js';
import { decodeGiven } from '../../documents/store/given-document.js';
import { readUsageAgain, type UsageOfPart } from './measure-again.js';
import { readVerified } from './verify-invoice.js';

/** Usage that is shown of a stored line, and the line item that it belongs to. */
function measuredOf(line: DocumentLine) {
  const { subscription_line_item_id: id, trace } = line;
  // Late usage is a difference of two readings, which no groups add up to.
  if (line.late_invoice_id !== null) return null;
  return id === null || trace.usage === null ? null : { id, raw: trace.usage.raw };
}

/**
 * The oldest feature of each meter that was there when the invoice was computed, whatever has
 * become of it since, so that the answer never changes.
 */
async function findFeatureIds(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  { header, lines }: InvoiceDocument,
): Promise<ReadonlyMap<string, string>> {
  const meterIds = lines.flatMap(({ meter_id: id }) => (id === null ? [] : [id]));
  const features = await mustRead(dependencies, occasion, ({ tx }) =>
    tx.any(sql.type(FEATURES.row)`
      SELECT DISTINCT ON (meter_id) * FROM features
      WHERE meter_id = ANY (${sql.array(meterIds, 'text')}) AND ${isOfEnvironment}
        AND created_at <= ${formatInstant(header.last_computed_at)}::timestamptz
      ORDER BY meter_id, created_at, id`),
  );
  return new Map(
    features.map(({ meter_id: meterId, id }) => [assertPresent(meterId, 'the meter'), id]),
  );
}

/** The usage of a line: an invoice may have those of several periods of a grouped child. */
function usageIn(parts: readonly UsageOfPart[], { period_end: end }: DocumentLine, id: string) {
  const having = parts.filter(({ usage }) => usage.has(id));
  const own = having.find(({ period }) => {
    return end !== null && end > period.startMs && end <= period.endMs;
  });
  return (own ?? having[0])?.usage.get(id);
}

/** The line with the costs of its groups, which add up to its amount. */
function groupedLine(
  line: DocumentLine,
  parts: readonly UsageOfPart[],
  currency: string,
): DocumentLine | Refusal {
  const measured = measuredOf(line);
  if (measured === null) return line;
  const own = assertPresent(usageIn(parts, line, measured.id), 'the usage of a line');
  if (!own.usage.equals(measured.raw)) {
    const text = `events behind the line ${line.display_name} have been removed`;
    return new Refusal('invalid_operation', `${text}, so that its groups cannot be told any more`);
  }
  const amount = new Money(line.amount, currency);
  return {
    ...line,
    usage_analytics: splitBySource(amount, own.bySource),
    usage_breakdown: splitByGrouping(amount, own.byGrouping),
  };
}

/** A stored invoice with the groups of its usage lines: from the events below its watermark. */
async function readGrouped(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  { id, grouping }: { readonly id: string; readonly grouping: Grouping },
): Promise<InvoiceDocument | Refusal> {
  const found = await readVerified(dependencies, occasion, id);
  if (isRefusal(found)) return found;
  const { document, computation } = found;
  const isMeasured = document.lines.some((line) => measuredOf(line) !== null);
  if (!isMeasured || decodeGiven(computation.inputs) !== null) return document;
  const { watermark: mark, ...snapshot } = decodeSnapshot(computation.inputs);
  const watermark = assertPresent(mark, 'the watermark of a usage line');
  const featureIds = grouping.hasFeature
    ? await findFeatureIds(dependencies, occasion, document)
    : new Map<string, string>();
  const measured = { document, snapshot: { ...snapshot, watermark }, grouping, featureIds };
  const usage = await readUsageAgain(dependencies, occasion.environment, measured);
  if (isRefusal(usage)) return usage;
  const lines = collect({ items: document.lines, isBulk: false }, (line) =>
    groupedLine(line, usage, document.header.currency),
  );
  return isRefusal(lines) ? lines : { ...document, lines };
}

/**
 * GET /invoices/{id}: a stored invoice. With `group_by` its usage lines are split as those of a
 * preview are, and never otherwise than at first (docs/domain.md 13.6).
 */
export function readInvoiceWithGroups(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  { id, groupBy }: { readonly id: string; readonly groupBy: readonly string[] },
): Promise<InvoiceDocument | Refusal> {
  const reader = new MemberReader();
  const grouping = readGroups(reader, groupBy);
  const refusal = reader.refusal();
  if (refusal !== null) return Promise.resolve(refusal);
  if (groupBy.length === 0) return readInvoice(dependencies, occasion, id);
  return readGrouped(dependencies, occasion, { id, grouping });
}
