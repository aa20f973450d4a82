import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { holdContractParties } from './contract-parties.js';
import { insertSubscription } from './insert-subscription.js';
import { findNewLines } from './new-lines.js';
import { storeAdjustments } from './store-adjustments.js';
import { storeBelongings } from './store-belongings.js';
import type { SubscriptionCommand } from './subscription-command.js';
import { ledgerOfCommand, newSubscriptionRow } from './subscription-row.js';

/** Stores the subscription of a command with everything that belongs to it. */
export async function storeSubscription(
  unit: Unit,
  command: SubscriptionCommand,
): Promise<SubscriptionRow | Refusal> {
  const parties = await holdContractParties(unit, command);
  if (isRefusal(parties)) return parties;
  const subscriptionId = unit.newId(SUBSCRIPTIONS.idPrefix);
  const lines = await findNewLines(unit, { command, subscriptionId }, parties);
  if (isRefusal(lines)) return lines;
  const ledger = ledgerOfCommand(command, parties.customer, unit.now);
  const row = { ...newSubscriptionRow(command, parties, ledger), id: subscriptionId };
  const subscription = await insertSubscription(unit, row, ledger.periods[0]);
  if (isRefusal(subscription)) return subscription;
  const contract = { subscriptionId, command, parties, ledger, lines };
  const stored = await storeBelongings(unit, contract);
  if (isRefusal(stored)) return stored;
  const made = { subscription, lines: lines.lines, lineItems: stored.lineItems };
  const coupons = await storeAdjustments(unit, made, command.adjustments);
  if (isRefusal(coupons)) return coupons;
  return subscription;
}
