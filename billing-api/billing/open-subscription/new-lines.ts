import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { commitLines } from '../../subscriptions/lines/commit-lines.js';
import type { LineContext } from '../../subscriptions/lines/line-price.js';
import type { NewLine } from '../../subscriptions/lines/new-line.js';
import { newPlanLines } from '../../subscriptions/lines/override-lines.js';
import { newAddonLines } from './addon-lines.js';
import type { ContractParties } from './contract-parties.js';
import { newAddedLines } from './added-lines.js';
import { findLineContext } from './line-context.js';
import { linesRefusal } from './line-rules.js';
import type { SubscriptionCommand } from './subscription-command.js';

/** The lines of the subscription in line order: of its plan, of its addons, then its own. */
function newSubscriptionLines(
  command: SubscriptionCommand,
  { planPrices, addons }: Pick<ContractParties, 'planPrices' | 'addons'>,
  context: LineContext,
): readonly NewLine[] | Refusal {
  const ofPlan = newPlanLines(planPrices, command.overrides, context);
  if (isRefusal(ofPlan)) return ofPlan;
  const added = newAddedLines(command.addedLines, context);
  if (isRefusal(added)) return added;
  const lines = commitLines(
    [...ofPlan, ...newAddonLines(addons), ...added],
    command.commitments,
    context,
  );
  if (isRefusal(lines)) return lines;
  return linesRefusal(command, lines, context.now) ?? lines;
}

/** The lines of a subscription that is to be stored, with the meters of their prices. */
export type NewLines = {
  readonly lines: readonly NewLine[];
  readonly meters: LineContext['meters'];
};

/** Reads what the lines of a subscription need, and makes them. */
export async function findNewLines(
  unit: Unit,
  wanted: { readonly command: SubscriptionCommand; readonly subscriptionId: string },
  parties: ContractParties,
): Promise<NewLines | Refusal> {
  const context = await findLineContext(unit, wanted, parties);
  const lines = newSubscriptionLines(wanted.command, parties, context);
  return isRefusal(lines) ? lines : { lines, meters: context.meters };
}
