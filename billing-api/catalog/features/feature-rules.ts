import { givenOf, MemberReader } from '../../records/member-rules.js';
import { isRefusal, nestedRefusal } from '../../records/refusal.js';
import { newMeter, readMeterFilters } from '../meters/meter-rules.js';
import type {
  AlertSettingsBody,
  ChangeFeatureBody,
  CreateFeatureBody,
  FeatureRow,
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

type Units = Partial<Pick<FeatureRow, 'unit_singular' | 'unit_plural' | 'reporting_unit'>>;

export function checkUnits(reader: MemberReader, units: Units): void {
  const { unit_singular: singular = null, unit_plural: plural = null } = units;
  if ((singular === null) !== (plural === null)) {
    reader.note('unit_plural', 'give unit_singular and unit_plural together');
  }
  const rate = units.reporting_unit?.conversion_rate ?? 1;
  if (!(rate > 0)) reader.note('reporting_unit.conversion_rate', 'must be greater than 0');
}

/** Why these levels of an alert do not go together (docs/domain.md 31); null when they do. */
function warningProblem({ critical, warning }: AlertSettingsBody): string | null {
  if (warning === undefined || warning === null) return null;
  if (critical === undefined || critical === null) return 'needs critical';
  const { condition, threshold } = critical;
  if (warning.condition !== condition) return `must have the condition of critical, ${condition}`;
  const isInOrder =
    condition === 'above' ? threshold >= warning.threshold : threshold <= warning.threshold;
  if (isInOrder) return null;
  const bound = condition === 'above' ? 'at most' : 'at least';
  return `must have a threshold of ${bound} ${threshold}, that of critical`;
}

function newAlertSettings(settings: AlertSettingsBody | null | undefined) {
  if (settings === undefined || settings === null) return null;
  return {
    alert_enabled: settings.alert_enabled ?? true,
    critical: settings.critical ?? null,
    warning: settings.warning ?? null,
    info: settings.info ?? null,
  };
}

/** An empty text takes the feature out of its group. */
function groupOf(id: string | null | undefined): string | null {
  return id === undefined || id === '' ? null : id;
}

/** The feature that a request describes, without its meter, or what is wrong with it. */
export function newFeature(body: CreateFeatureBody) {
  const reader = new MemberReader();
  const name = reader.name('name', body.name);
  checkMeterReference(reader, body);
  checkUnits(reader, body);
  reader.note('alert_settings.warning', warningProblem(body.alert_settings ?? {}));
  const feature = {
    name,
    description: body.description ?? null,
    lookup_key: body.lookup_key ?? lookupKeyOf(name),
    type: body.type,
    group_id: groupOf(body.group_id),
    unit_singular: body.unit_singular ?? null,
    unit_plural: body.unit_plural ?? null,
    reporting_unit: body.reporting_unit ?? null,
    alert_settings: newAlertSettings(body.alert_settings),
    metadata: reader.metadata(body.metadata),
  };
  return reader.refusal() ?? feature;
}

export function newInlineMeter({ meter: body }: CreateFeatureBody) {
  if (body === undefined) return null;
  const meter = newMeter(body);
  return isRefusal(meter) ? nestedRefusal(meter, 'meter') : meter;
}

/** What a change writes, the filters for the meter apart; or what is wrong with it. */
export function changedFeature(body: ChangeFeatureBody) {
  const reader = new MemberReader();
  const { group_id: group, alert_settings: alerts, reporting_unit: unit } = body;
  reader.note('alert_settings.warning', warningProblem(alerts ?? {}));
  const filters = body.filters === undefined ? null : readMeterFilters(reader, body.filters);
  const { description, unit_singular, unit_plural } = body;
  const patch = givenOf({
    ...{ description, unit_singular, unit_plural, reporting_unit: unit },
    name: reader.changedName('name', body.name),
    alert_settings: alerts === undefined ? undefined : newAlertSettings(alerts),
    group_id: group === undefined ? undefined : groupOf(group),
    metadata: reader.changedMetadata(body.metadata),
  });
  return reader.refusal() ?? { patch, filters };
}
