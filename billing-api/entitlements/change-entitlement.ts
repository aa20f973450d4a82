import { assertPresent } from '../../runtime/failure.js';
import { FEATURES } from '../declarations/catalog/feature.resource.js';
import { changeRecord } from '../records/change-record.js';
import { expandRecord } from '../records/expand-record.js';
import { findRecord } from '../records/find-record.js';
import { endProblem, MemberReader } from '../records/member-rules.js';
import { accept } from '../records/refusal.js';
import { writeOperation } from '../records/operation.js';
import { featureRefusal } from './entitlement-request.js';
import { refuseOtherReset } from './reset-rule.js';
import {
  ENTITLEMENTS,
  entitlementExpansions,
  type ChangeEntitlementBody,
  type EntitlementRow,
  type ExpandedEntitlement,
} from '../declarations/entitlements/entitlement.resource.js';

/** What a change writes to this entitlement, or what is wrong with it. */
function patchOf(row: EntitlementRow, body: ChangeEntitlementBody) {
  const reader = new MemberReader();
  const { end_date: end, ...others } = body;
  const endMs = end === undefined ? row.end_date : reader.instant('end_date', end ?? undefined);
  reader.note('end_date', endProblem('start_date', row.start_date, endMs));
  // One that is given an end of its own does not follow the first period any more.
  const is_of_first_period = end === undefined && row.is_of_first_period;
  return reader.refusal() ?? { ...others, end_date: endMs, is_of_first_period };
}

/** PUT /entitlements/{id}. */
export const changeEntitlement = writeOperation(
  async (
    unit,
    { id, body }: { readonly id: string; readonly body: ChangeEntitlementBody },
  ): Promise<ExpandedEntitlement> => {
    const changed = await changeRecord(unit, ENTITLEMENTS, {
      target: { id },
      change: async (row) => {
        const patch = accept(patchOf(row, body));
        const feature = await findRecord(unit, FEATURES, row.feature_id);
        const known = assertPresent(feature, 'the feature of an entitlement');
        const members = known.type === 'static' ? { ...row, ...patch } : patch;
        return featureRefusal(known, members) ?? patch;
      },
    });
    if (body.usage_reset_period !== undefined) await refuseOtherReset(unit, changed);
    return expandRecord(unit, changed, entitlementExpansions);
  },
);
