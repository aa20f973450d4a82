import { ADDON_ASSOCIATION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { instant, nullable, oneOf, recordVersion, text } from '../../records/columns.js';
import { defineResource, type RecordOf } from '../../records/resource.js';
import { SUBSCRIPTIONS } from './subscription.resource.js';

/** An addon that a subscription has, from one instant to another. */
export const ADDON_ASSOCIATIONS = defineResource({
  name: 'addon association',
  idPrefix: 'addon_assoc',
  table: 'addon_associations',
  columns: {
    subscription_id: text,
    addon_id: text,
    cadence: oneOf(['onetime', 'recurring']),
    addon_status: oneOf(ADDON_ASSOCIATION.states),
    start_date: instant,
    end_date: nullable(instant),
    version: recordVersion,
  },
  removal: 'archived',
  partOf: { column: 'subscription_id', whole: SUBSCRIPTIONS },
  lifecycle: { column: 'addon_status', of: ADDON_ASSOCIATION },
});
export type AddonAssociationRow = RecordOf<typeof ADDON_ASSOCIATIONS>;
