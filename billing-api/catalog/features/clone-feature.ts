import { createRecord } from '../../records/create-record.js';
import { expandRecord } from '../../records/expand-record.js';
import { holdPublished } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { accept } from '../../records/refusal.js';
import { ownColumnsOf } from '../../records/resource.js';
import { writeOperation } from '../../records/operation.js';
import type { Unit } from '../../records/unit.js';
import { withoutArchivedGroups } from '../groups/groups-store.js';
import { copyMeter } from '../meters/copy-meter.js';
import { lookupKeyOf } from './feature-rules.js';
import {
  FEATURES,
  type CloneFeatureBody,
  type FeatureRow,
} from '../../declarations/catalog/feature.resource.js';
import { featureExpansions, type ExpandedFeature } from './feature-expansions.js';

/** What the copy of a feature has that its source does not, or what is wrong with the request. */
function ownMembers(source: FeatureRow, body: CloneFeatureBody) {
  const reader = new MemberReader();
  const name = reader.name('name', body.name);
  const added = reader.metadata(body.metadata);
  const members = {
    name,
    lookup_key: body.lookup_key ?? lookupKeyOf(name),
    description: body.description ?? source.description,
    metadata: reader.metadata({ ...source.metadata, ...added, source_feature_id: source.id }),
  };
  return reader.refusal() ?? members;
}

async function storeCopy(
  unit: Unit,
  source: FeatureRow,
  body: CloneFeatureBody,
): Promise<FeatureRow> {
  const own = accept(ownMembers(source, body));
  const meter = source.meter_id === null ? null : await copyMeter(unit, source.meter_id);
  const [copied = source] = await withoutArchivedGroups(unit, [source]);
  const members = { ...ownColumnsOf(FEATURES, copied), ...own };
  return createRecord(unit, FEATURES, { ...members, meter_id: meter?.id ?? null });
}

/** POST /features/{id}/clone: a new feature with a meter of its own. */
export const cloneFeature = writeOperation(
  async (
    unit,
    { id, body }: { readonly id: string; readonly body: CloneFeatureBody },
  ): Promise<ExpandedFeature> => {
    const source = await holdPublished(unit, FEATURES, id);
    const copy = await storeCopy(unit, source, body);
    return expandRecord(unit, copy, featureExpansions);
  },
);
