import { plain } from '../../../contract/decimal.js';
import type { MemberReader } from '../../records/member-rules.js';
import { readSubscriptionCommitment } from '../../subscriptions/lines/commitment-request.js';
import type { NewSubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type { CreateSubscriptionBody } from './create-subscription-body.js';

/** Columns that are stored as they came. */
export type PassthroughColumns = Pick<
  NewSubscriptionRow,
  | 'lookup_key'
  | 'collection_method'
  | 'payment_behavior'
  | 'payment_terms'
  | 'gateway_payment_method_id'
  | 'commitment_amount'
  | 'overage_factor'
  | 'commitment_duration'
  | 'enable_true_up'
  | 'metadata'
>;

/**
 * Reads the members that the subscription keeps as the request gives them, with their defaults, and
 * its commitment.
 */
export function readPassthrough(
  reader: MemberReader,
  body: CreateSubscriptionBody,
  terms: Parameters<typeof readSubscriptionCommitment>[2],
): PassthroughColumns {
  const { amount, overageFactor, ...commitment } = readSubscriptionCommitment(reader, body, terms);
  return {
    lookup_key: body.lookup_key ?? null,
    collection_method: body.collection_method ?? 'charge_automatically',
    payment_behavior: body.payment_behavior ?? 'default_active',
    payment_terms: body.payment_terms ?? null,
    gateway_payment_method_id: body.gateway_payment_method_id ?? null,
    commitment_amount: amount === null ? null : plain(amount),
    overage_factor: overageFactor === null ? null : plain(overageFactor),
    commitment_duration: commitment.duration,
    enable_true_up: commitment.isTrueUpEnabled,
    metadata: { ...reader.metadata(body.metadata) },
  };
}
