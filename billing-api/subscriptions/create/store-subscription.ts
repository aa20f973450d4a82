import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { storeLines } from '../lines/store-lines.js';
import type { LoadedSubscription } from '../loaded-subscription.js';
import { SUBSCRIPTIONS } from '../subscription.resource.js';
import { holdContractParties } from './contract-parties.js';
import { insertSubscription } from './insert-subscription.js';
import { findLineContext } from './line-context.js';
import type { SubscriptionCommand } from './subscription-command.js';
import { storeEntitlements } from './subscription-entitlements.js';
import { newSubscriptionLines } from './subscription-lines.js';
import { ledgerOfCommand, newSubscriptionRow } from './subscription-row.js';

/** Stores the subscription of a command with its lines, their prices and its entitlements. */
export async function storeSubscription(
  unit: Unit,
  command: SubscriptionCommand,
): Promise<LoadedSubscription | Refusal> {
  const parties = await holdContractParties(unit, command);
  if (isRefusal(parties)) return parties;
  const { customer, plan, planPrices } = parties;
  const subscriptionId = unit.newId(SUBSCRIPTIONS.idPrefix);
  const context = await findLineContext(unit, { command, subscriptionId }, planPrices);
  const lines = newSubscriptionLines(command, planPrices, context);
  if (isRefusal(lines)) return lines;
  const ledger = ledgerOfCommand(command, customer, unit.now);
  const [period] = ledger.periods;
  const row = { ...newSubscriptionRow(command, parties, ledger), id: subscriptionId };
  const subscription = await insertSubscription(unit, row, period);
  if (isRefusal(subscription)) return subscription;
  const { prorationBehavior } = command;
  const entitled = { subscriptionId, planId: plan.id, ledger, prorationBehavior };
  const refusal = await storeEntitlements(unit, entitled, command.entitlements);
  if (refusal !== null) return refusal;
  const owner = { subscriptionId, customerId: customer.id, startMs: period.startMs, plan };
  const stored = await storeLines(unit, owner, { lines, meters: context.meters });
  if (isRefusal(stored)) return stored;
  const customers = new Map([[customer.id, customer]]);
  const plans = new Map([[plan.id, plan]]);
  return { subscription, related: { ...stored, customers, plans } };
}
