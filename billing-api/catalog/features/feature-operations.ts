import type { Occasion } from '../../records/occasion.js';
import { hasText, isEqual, isOneOfAsked } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { expandRecord, readExpanded } from '../../records/expand-record.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { searchExpanded, type Page } from '../../records/search-records.js';
import { readOperation } from '../../records/operation.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type WriteDependencies,
} from '../../records/unit.js';
import { storeMeter } from '../meters/define-meter.js';
import { newFeature, newInlineMeter } from './feature-rules.js';
import {
  FEATURES,
  type CreateFeatureBody,
  type SearchFeaturesBody,
} from '../../declarations/catalog/feature.resource.js';
import { featureExpansions, type ExpandedFeature } from './feature-expansions.js';

/** POST /features: a feature, together with its meter when the request brings one. */
export async function createFeature(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateFeatureBody,
): Promise<ExpandedFeature | Refusal> {
  const feature = newFeature(body);
  if (isRefusal(feature)) return feature;
  const inlineMeter = newInlineMeter(body);
  if (isRefusal(inlineMeter)) return inlineMeter;
  return writeUnit(dependencies, occasion, async (unit) => {
    const meter = inlineMeter === null ? null : await storeMeter(unit, inlineMeter);
    const meterId = meter?.id ?? body.meter_id ?? null;
    const row = await createRecord(unit, FEATURES, { ...feature, meter_id: meterId });
    return expandRecord(unit, row, featureExpansions);
  });
}

/** GET /features/{id} with its meter, whatever its status. */
export const readFeature = readOperation((unit, id: string) =>
  readExpanded(unit, FEATURES, { id, expansions: featureExpansions }),
);

/** POST /features/search. */
export function searchFeatures(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchFeaturesBody,
): Promise<Page<ExpandedFeature> | Refusal> {
  const search = {
    request: body,
    conditions: [
      ...isOneOfAsked('id', body.feature_ids),
      ...isOneOfAsked('meter_id', body.meter_ids),
      ...isEqual('lookup_key', body.lookup_key),
      ...isOneOfAsked('lookup_key', body.lookup_keys),
      ...hasText('name', body.name_contains),
      ...isEqual('type', body.type),
    ],
    expansions: featureExpansions,
  };
  return readUnit(dependencies, occasion, (unit) => searchExpanded(unit, FEATURES, search));
}
