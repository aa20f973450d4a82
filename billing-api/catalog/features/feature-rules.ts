import { givenOf, MemberReader } from '../../records/member-rules.js';
import { isRefusal, nestedRefusal } from '../../records/refusal.js';
import {
  readAlertSettings,
  type AlertSettingsBody,
} from '../../declarations/alerts/alert-settings.js';
import { newMeter, readMeterFilters } from '../meters/meter-rules.js';
import type {
  ChangeFeatureBody,
  CreateFeatureBody,
  FeatureRow,
} from '../../declarations/catalog/feature.resource.js';

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

type GivenSettings = AlertSettingsBody | null | undefined;

/** Null takes the settings away. */
function alertSettingsOf(reader: MemberReader, settings: GivenSettings) {
  return settings === undefined || settings === null ? null : readAlertSettings(reader, settings);
}

/** An empty text takes the feature out of its group. */
function groupOf(id: string | null | undefined): string | null {
  return id === undefined || id === '' ? null : id;
}

/** The feature that a request describes, without its meter, or what is wrong with it. */
export function newFeature(body: CreateFeatureBody) {
  const reader = new MemberReader();
  const name = reader.line('name', body.name);
  checkMeterReference(reader, body);
  checkUnits(reader, body);
  const feature = {
    name,
    description: body.description ?? null,
    lookup_key: body.lookup_key ?? lookupKeyOf(name),
    type: body.type,
    group_id: groupOf(body.group_id),
    unit_singular: body.unit_singular ?? null,
    unit_plural: body.unit_plural ?? null,
    reporting_unit: body.reporting_unit ?? null,
    alert_settings: alertSettingsOf(reader, body.alert_settings),
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
  const filters = body.filters === undefined ? null : readMeterFilters(reader, body.filters);
  const { description, unit_singular, unit_plural } = body;
  const patch = givenOf({
    description,
    unit_singular,
    unit_plural,
    reporting_unit: unit,
    name: reader.changedName('name', body.name),
    alert_settings: alerts === undefined ? undefined : alertSettingsOf(reader, alerts),
    group_id: group === undefined ? undefined : groupOf(group),
    metadata: reader.changedMetadata(body.metadata),
  });
  return reader.refusal() ?? { patch, filters };
}
