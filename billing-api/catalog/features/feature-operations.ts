import type { Caller } from '../../records/caller.js';
import { hasText, isEqual, isOneOf } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { expandRecord, readExpanded } from '../../records/expand-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { isRefusal, nestedRefusal, type Refusal } from '../../records/refusal.js';
import { searchExpanded, type Page } from '../../records/search-records.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type WriteDependencies,
} from '../../records/unit.js';
import { storeMeter } from '../meters/define-meter.js';
import { newMeter } from '../meters/meter-rules.js';
import {
  FEATURES,
  featureExpansions,
  type AlertSettingsBody,
  type CreateFeatureBody,
  type ExpandedFeature,
  type SearchFeaturesBody,
} from './feature.resource.js';

const LOOKUP_KEY_LENGTH_MAX = 255;

/**
 * Lower case, each run of other characters than letters and digits becomes `_` (docs/domain.md
 * 3.2).
 */
export function lookupKeyOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .slice(0, LOOKUP_KEY_LENGTH_MAX);
}

function checkMeterReference(reader: MemberReader, body: CreateFeatureBody): void {
  const isNamed = body.meter_id !== undefined;
  const isInline = body.meter !== undefined;
  if (body.type === 'metered') {
    if (!isNamed && !isInline) reader.note('meter_id', 'give meter_id or meter for type metered');
    if (isNamed && isInline) reader.note('meter', 'give either meter_id or meter');
  } else if (isNamed || isInline) {
    reader.note(isNamed ? 'meter_id' : 'meter', `must be left out for type ${body.type}`);
  }
}

function checkUnits(reader: MemberReader, body: CreateFeatureBody): void {
  if ((body.unit_singular === undefined) !== (body.unit_plural === undefined)) {
    reader.note('unit_plural', 'give unit_singular and unit_plural together');
  }
  if (body.reporting_unit !== undefined && !(body.reporting_unit.conversion_rate > 0)) {
    reader.note('reporting_unit.conversion_rate', 'must be greater than 0');
  }
}

/** Why these levels of an alert do not go together (docs/domain.md 31); null when they do. */
function warningProblem({ critical, warning }: AlertSettingsBody): string | null {
  if (warning === undefined) return null;
  if (critical === undefined) return 'needs critical';
  const { condition, threshold } = critical;
  if (warning.condition !== condition) return `must have the condition of critical, ${condition}`;
  const isInOrder =
    condition === 'above' ? threshold >= warning.threshold : threshold <= warning.threshold;
  if (isInOrder) return null;
  const bound = condition === 'above' ? 'at most' : 'at least';
  return `must have a threshold of ${bound} ${threshold}, that of critical`;
}

function newAlertSettings(settings: AlertSettingsBody | undefined) {
  if (settings === undefined) return null;
  return {
    alert_enabled: settings.alert_enabled ?? true,
    critical: settings.critical ?? null,
    warning: settings.warning ?? null,
    info: settings.info ?? null,
  };
}

/** The feature that a request describes, without its meter, or what is wrong with it. */
function newFeature(body: CreateFeatureBody) {
  const reader = new MemberReader();
  const name = reader.name('name', body.name);
  checkMeterReference(reader, body);
  reader.rejectUnsupported(body, ['group_id']);
  checkUnits(reader, body);
  reader.note('alert_settings.warning', warningProblem(body.alert_settings ?? {}));
  const feature = {
    name,
    description: body.description ?? null,
    lookup_key: body.lookup_key ?? lookupKeyOf(name),
    type: body.type,
    group_id: null,
    unit_singular: body.unit_singular ?? null,
    unit_plural: body.unit_plural ?? null,
    reporting_unit: body.reporting_unit ?? null,
    alert_settings: newAlertSettings(body.alert_settings),
    metadata: reader.metadata(body.metadata),
  };
  return reader.refusal() ?? feature;
}

function newInlineMeter({ meter: body }: CreateFeatureBody) {
  if (body === undefined) return null;
  const meter = newMeter(body);
  return isRefusal(meter) ? nestedRefusal(meter, 'meter') : meter;
}

/** POST /features: a feature, together with its meter when the request brings one. */
export async function createFeature(
  dependencies: WriteDependencies,
  caller: Caller,
  body: CreateFeatureBody,
): Promise<ExpandedFeature | Refusal> {
  const feature = newFeature(body);
  if (isRefusal(feature)) return feature;
  const inlineMeter = newInlineMeter(body);
  if (isRefusal(inlineMeter)) return inlineMeter;
  return writeUnit(dependencies, caller, async (unit) => {
    const meter = inlineMeter === null ? null : await storeMeter(unit, inlineMeter);
    if (isRefusal(meter)) return meter;
    const meterId = meter?.id ?? body.meter_id ?? null;
    const row = await createRecord(unit, FEATURES, { ...feature, meter_id: meterId });
    return isRefusal(row) ? row : expandRecord(unit, row, featureExpansions);
  });
}

/** GET /features/{id} with its meter, whatever its status. */
export function readFeature(
  dependencies: ReadDependencies,
  caller: Caller,
  id: string,
): Promise<ExpandedFeature | Refusal> {
  return readUnit(dependencies, caller.environment, (unit) =>
    readExpanded(unit, FEATURES, { id, expansions: featureExpansions }),
  );
}

/** POST /features/search. */
export function searchFeatures(
  dependencies: ReadDependencies,
  caller: Caller,
  body: SearchFeaturesBody,
): Promise<Page<ExpandedFeature> | Refusal> {
  const search = {
    request: body,
    conditions: [
      ...isOneOf('id', body.feature_ids),
      ...isOneOf('meter_id', body.meter_ids),
      ...isEqual('lookup_key', body.lookup_key),
      ...isOneOf('lookup_key', body.lookup_keys),
      ...hasText('name', body.name_contains),
      ...isEqual('type', body.type),
    ],
    expansions: featureExpansions,
  };
  return readUnit(dependencies, caller.environment, (unit) =>
    searchExpanded(unit, FEATURES, search),
  );
}
