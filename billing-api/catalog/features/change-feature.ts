import type { Occasion } from '../../records/occasion.js';
import {
  changeRecord,
  notReferenced,
  removeRecord,
  type ChangeTarget,
} from '../../records/change-record.js';
import { isPublished } from '../../records/conditions.js';
import { expandRecord } from '../../records/expand-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { writeOperation } from '../../records/operation.js';
import { writeUnit, type WriteDependencies } from '../../records/unit.js';
import { changeMeterIn } from '../meters/define-meter.js';
import { archiveSpareMeter } from './archive-spare-meter.js';
import { changedFeature, checkUnits } from './feature-rules.js';
import {
  FEATURES,
  type ChangeFeatureBody,
  type FeatureRow,
} from '../../declarations/catalog/feature.resource.js';
import { featureExpansions, type ExpandedFeature } from './feature-expansions.js';

/** PUT /features/{id}; filters are those of its meter, which counts by them from then on. */
export async function changeFeature(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeFeatureBody },
): Promise<ExpandedFeature | Refusal> {
  const members = changedFeature(body);
  if (isRefusal(members)) return members;
  const { patch, filters } = members;
  return writeUnit(dependencies, occasion, async (unit) => {
    const row = await changeRecord(unit, FEATURES, {
      target,
      change: (before) => {
        const reader = new MemberReader();
        checkUnits(reader, { ...before, ...patch });
        if (filters !== null && before.meter_id === null) {
          reader.note('filters', `must be left out for type ${before.type}`);
        }
        return reader.refusal() ?? patch;
      },
    });
    if (filters !== null && row.meter_id !== null) {
      await changeMeterIn(unit, { id: row.meter_id }, { filters });
    }
    return expandRecord(unit, row, featureExpansions);
  });
}

/** An entitlement that can still be used needs its feature (docs/domain.md 4). */
const notEntitled = notReferenced(
  {
    table: 'entitlements',
    column: 'feature_id',
    having: isPublished,
  },
  'has an entitlement that is not archived; archive it first',
);

/** DELETE /features/{id}: archives the feature, and its meter when nothing else needs that. */
export const archiveFeature = writeOperation(async (unit, id: string): Promise<FeatureRow> => {
  const feature = await removeRecord(unit, FEATURES, { id, guards: [notEntitled] });
  await archiveSpareMeter(unit, feature);
  return feature;
});
