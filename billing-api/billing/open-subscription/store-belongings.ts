import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { storeLines, type StoredLines } from '../../subscriptions/lines/store-lines.js';
import type { ContractParties } from './contract-parties.js';
import type { NewLines } from './new-lines.js';
import { storeAddons } from './store-addons.js';
import { storeGrants } from './store-grants.js';
import type { SubscriptionCommand } from './subscription-command.js';
import { storeEntitlements } from './subscription-entitlements.js';

/** A subscription that is stored, with what its belongings are made from. */
type Contract = {
  readonly subscriptionId: string;
  readonly command: SubscriptionCommand;
  readonly parties: ContractParties;
  readonly ledger: PeriodLedger;
  readonly lines: NewLines;
};

/** Stores the addons, entitlements, credit grants and lines of a subscription, and their prices. */
export async function storeBelongings(
  unit: Unit,
  { subscriptionId, command, parties, ledger, lines }: Contract,
): Promise<StoredLines | Refusal> {
  const { customer, plan, addons } = parties;
  const { prorationBehavior } = command;
  const [{ startMs }] = ledger.periods;
  const entitled = { subscriptionId, planId: plan.id, ledger, prorationBehavior };
  const refusal =
    (await storeAddons(unit, subscriptionId, addons)) ??
    (await storeEntitlements(unit, entitled, command.entitlements));
  if (refusal !== null) return refusal;
  const sources = { planId: plan.id, addons, requested: command.adjustments.grants };
  const grants = await storeGrants(unit, sources, { subscriptionId, startMs });
  if (isRefusal(grants)) return grants;
  const owner = { subscriptionId, customerId: customer.id, startMs, plan };
  return storeLines(unit, owner, lines);
}
