import { assertPresent } from '../../../runtime/failure.js';
import type { LineUsage } from '../../domain/usage/line-usage.js';
import { Refusal } from '../../records/refusal.js';
import { readUsage, type UsageOwner } from '../../usage/read-usage.js';
import { CELLS_MAX } from '../../usage/store/cell-query.js';
import type { UsageReader } from '../../usage/store/usage-reader.js';
import type { Grouping } from '../../usage/usage-grouping.js';
import { usageOfLine } from './line-usage-answer.js';
import { usageQueryOfLine, type LineUsageQuery } from './line-usage-query.js';

/** Usage by line item id; a line without events has an entry of 0. */
export type UsageOfLines = ReadonlyMap<string, LineUsage>;

/**
 * Reads the usage of all lines at once.
 * @param featureIds the feature of each meter; used only where usage is grouped by feature.
 */
export async function readLineUsage(
  reader: UsageReader,
  owner: UsageOwner,
  {
    lines,
    grouping,
    featureIds,
  }: {
    readonly lines: readonly LineUsageQuery[];
    readonly grouping: Grouping;
    readonly featureIds: ReadonlyMap<string, string>;
  },
): Promise<UsageOfLines | Refusal> {
  const queries = lines.map((line) => ({ line, query: usageQueryOfLine(line, grouping) }));
  const answers = await readUsage(
    reader,
    owner,
    queries.map(({ query }) => query),
  );
  if (answers === null) {
    const message = `the lines have more than ${CELLS_MAX} buckets and groups`;
    return new Refusal('validation_error', `${message}; take fewer groups or a shorter period`);
  }
  return new Map(
    queries.map(({ line, query }) => {
      const sliced = assertPresent(answers.get(query), 'the usage of a line');
      const featureId = featureIds.get(line.meter.meterId) ?? '';
      return [line.lineItem.id, usageOfLine(line, sliced, { ...grouping, featureId })];
    }),
  );
}
