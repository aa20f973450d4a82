import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import {
  INTEGRATIONS,
  type SubscriptionSignalBody,
} from '../../declarations/customers/integration.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { activateIncomplete } from '../../subscriptions/activate-incomplete.js';
import { isEqual } from '../../records/conditions.js';
import { findPublished, lockRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { invalid, notFound, Refusal, Refused } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { syncPending } from './start-sync.js';

/** What a signal has done. */
export type TakenSignal = {
  readonly row: SubscriptionRow;
  readonly isRepeated: boolean;
  readonly isActivated: boolean;
};

/** The id of the subscription that a signal means: its own, or that of a link. */
async function idOf(unit: Unit, body: SubscriptionSignalBody): Promise<string> {
  if (body.subscription_id !== undefined) return body.subscription_id;
  const [link] = await findPublished(unit, INTEGRATIONS, [
    ...isEqual('entity_type', 'subscription'),
    ...isEqual('provider_type', body.provider_type),
    ...isEqual('provider_entity_id', body.provider_subscription_id),
  ]);
  if (link !== undefined) return link.entity_id;
  throw new Refused(
    new Refusal('not_found', 'no subscription is linked to provider_subscription_id'),
  );
}

/** Which members say the subscription: its own id, or both of the provider's, and not more. */
function nameProblem(body: SubscriptionSignalBody): Refusal | null {
  const { subscription_id: id, provider_type: type, provider_subscription_id: theirs } = body;
  const isOfProvider = type !== undefined && theirs !== undefined;
  const isOwn = id !== undefined;
  if (isOwn && type === undefined && theirs === undefined) return null;
  if (!isOwn && isOfProvider) return null;
  const problem = 'give it, or provider_type with provider_subscription_id, and not both';
  return invalid({ subscription_id: problem });
}

const insertedRow = z.object({ signal_id: z.string() });

/** Notes the signal; null when it came before. */
async function isFirst(
  unit: Unit,
  body: SubscriptionSignalBody,
  of: { readonly subscriptionId: string; readonly occurredAt: InstantMs | null },
): Promise<boolean> {
  const { tenantId, environmentId } = unit.environment;
  const occurredAt = of.occurredAt === null ? null : formatInstant(of.occurredAt);
  const inserted = await unit.tx.maybeOne(sql.type(insertedRow)`
    INSERT INTO subscription_signals (tenant_id, environment_id, signal_id, subscription_id, state,
      occurred_at, received_at)
    VALUES (${tenantId}, ${environmentId}, ${body.signal_id}, ${of.subscriptionId}, ${body.state},
      ${occurredAt}::timestamptz, ${formatInstant(unit.now)}::timestamptz)
    ON CONFLICT DO NOTHING RETURNING signal_id`);
  return inserted !== null;
}

/**
 * POST /integrations/signals/subscription (docs/domain.md 17.6): a signal counts once. An
 * incomplete subscription becomes active, and its invoices that wait for their payment are synced
 * again; any other one stays as it is, and the signal is
 * acknowledged all the same.
 */
export async function takeSubscriptionSignal(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: SubscriptionSignalBody,
): Promise<TakenSignal | Refusal> {
  const reader = new MemberReader();
  const occurredAt = reader.instant('occurred_at', body.occurred_at);
  const problems = nameProblem(body) ?? reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) => {
    const id = await idOf(unit, body);
    const before = await lockRecord(unit, SUBSCRIPTIONS, id);
    if (before === null) throw new Refused(notFound(SUBSCRIPTIONS.name, id));
    const isNew = await isFirst(unit, body, { subscriptionId: id, occurredAt });
    if (!isNew) return { row: before, isRepeated: true, isActivated: false };
    const row = await activateIncomplete(unit, id);
    const isActivated = row.subscription_status !== before.subscription_status;
    isActivated ? await syncPending(unit, id) : null;
    return { row, isRepeated: false, isActivated };
  });
}
