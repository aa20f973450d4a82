import type { PriceRow } from '../../catalog/prices/price.resource.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { commitLines } from '../lines/commit-lines.js';
import type { LineContext } from '../lines/line-price.js';
import type { NewLine } from '../lines/new-line.js';
import { newPlanLines } from '../lines/override-lines.js';
import { newAddedLines } from './added-lines.js';
import { linesRefusal } from './line-rules.js';
import type { SubscriptionCommand } from './subscription-command.js';

/** The lines of the subscription in line order: those of its plan, then its own. */
export function newSubscriptionLines(
  command: SubscriptionCommand,
  planPrices: readonly PriceRow[],
  context: LineContext,
): readonly NewLine[] | Refusal {
  const ofPlan = newPlanLines(planPrices, command.overrides, context);
  if (isRefusal(ofPlan)) return ofPlan;
  const added = newAddedLines(command.addedLines, context);
  if (isRefusal(added)) return added;
  const lines = commitLines([...ofPlan, ...added], command.commitments, context);
  if (isRefusal(lines)) return lines;
  return linesRefusal(command, lines, context.now) ?? lines;
}
