import { plain } from '../../contract/number/decimal.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';
import {
  readLateUsage,
  type LateUsageRulesDto,
} from '../declarations/platform/late-usage-rules.js';
import { changeRecord, type ChangeTarget } from '../records/change-record.js';
import { givenOf, MemberReader } from '../records/member-rules.js';
import type { Occasion } from '../records/occasion.js';
import type { DecimalText, MetadataDto } from '../records/record-dto.js';
import { accept, invalid, isRefusal, type Refusal, Refused } from '../records/refusal.js';
import type { Patch } from '../records/resource.js';
import { writeUnit, type Unit, type WriteDependencies } from '../records/unit.js';
import { withRelated, type LoadedSubscription } from './loaded-subscription.js';
import { checkBehavior } from './payment-behavior.js';
import { announceUpdated } from './subscription-events.js';
import { findLineItems } from './subscriptions-store.js';

/**
 * Members that are present are changed; null clears those that may be absent. Of a cancelled
 * subscription only the metadata can be changed.
 * @example {"payment_terms": "30 NET", "metadata": {"team": "growth"}}
 */
export interface ChangeSubscriptionMembersBody {
  /** @minLength 1 @maxLength 255 */
  lookup_key?: string | null;
  /** Replaced as a whole. */
  metadata?: MetadataDto;
  payment_terms?: '15 NET' | '30 NET' | '45 NET' | '60 NET' | '75 NET' | '90 NET' | null;
  collection_method?: 'charge_automatically' | 'send_invoice';
  /** Only `default_active` is available yet. */
  payment_behavior?:
    'allow_incomplete' | 'default_incomplete' | 'error_if_incomplete' | 'default_active';
  /** @minLength 1 @maxLength 255 */
  gateway_payment_method_id?: string | null;
  /** Usage that costs so much is invoiced before the period ends; with no commitment beside it. */
  auto_invoice_threshold?: DecimalText | null;
  /** Replaced as a whole; null leaves it to the plan and the setting. */
  late_usage?: LateUsageRulesDto | null;
}

type SubscriptionPatch = Patch<(typeof SUBSCRIPTIONS)['columns']>;

function patchOf(body: ChangeSubscriptionMembersBody): SubscriptionPatch | Refusal {
  const reader = new MemberReader();
  const threshold = reader.positive(
    'auto_invoice_threshold',
    body.auto_invoice_threshold ?? undefined,
  );
  const patch = givenOf({
    lookup_key: body.lookup_key,
    payment_terms: body.payment_terms,
    collection_method: body.collection_method,
    payment_behavior: body.payment_behavior,
    gateway_payment_method_id: body.gateway_payment_method_id,
    auto_invoice_threshold: threshold === null ? body.auto_invoice_threshold : plain(threshold),
    late_usage: body.late_usage === undefined ? undefined : readLateUsage(reader, body.late_usage),
    metadata: reader.changedMetadata(body.metadata),
  });
  return reader.refusal() ?? patch;
}

/** What is given goes with what is left as it is. */
function behaviorRefusal(row: SubscriptionRow, patch: SubscriptionPatch): Refusal | null {
  const reader = new MemberReader();
  checkBehavior(reader, {
    payment_behavior: patch.payment_behavior ?? row.payment_behavior,
    collection_method: patch.collection_method ?? row.collection_method,
  });
  return reader.refusal();
}

/** A threshold is one of usage, and no commitment stands beside it (docs/domain.md 30.1). */
async function refuseThreshold(
  { tx }: Unit,
  row: SubscriptionRow,
  { auto_invoice_threshold: threshold = null }: SubscriptionPatch,
): Promise<void> {
  if (threshold === null) return;
  if (row.subscription_type !== 'standalone') {
    throw new Refused(
      invalid({ auto_invoice_threshold: 'goes with standalone subscriptions only' }),
    );
  }
  const lines = await findLineItems(tx, [row.id]);
  const isCommitted =
    row.commitment_amount !== null || lines.some((line) => line.commitment_type !== null);
  if (isCommitted) {
    throw new Refused(invalid({ auto_invoice_threshold: 'cannot be combined with a commitment' }));
  }
  const isUsed = lines.some((line) => line.entity_type === 'plan' && line.meter_id !== null);
  if (!isUsed) {
    throw new Refused(invalid({ auto_invoice_threshold: 'needs a plan with a price of usage' }));
  }
}

/** PUT /subscriptions/{id}: members that change no amount and no period. */
export function changeSubscription(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeSubscriptionMembersBody },
): Promise<LoadedSubscription | Refusal> {
  const patch = patchOf(body);
  if (isRefusal(patch)) return Promise.resolve(patch);
  return writeUnit(dependencies, occasion, async (unit) => {
    const subscription = await changeRecord(unit, SUBSCRIPTIONS, {
      target,
      change: async (row) => {
        accept(behaviorRefusal(row, patch));
        await refuseThreshold(unit, row, patch);
        return patch;
      },
    });
    if (Object.keys(patch).length > 0) await announceUpdated(unit, subscription);
    return withRelated(unit, subscription);
  });
}
