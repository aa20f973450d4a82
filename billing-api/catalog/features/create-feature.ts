import { FEATURES, type FeatureRow } from './features-store.js';
import { findMetersForUse, type MeterRow } from '../meters/meters-store.js';
import { insertRows, newRecordColumns, type NewRow } from '../../records/records.js';
import { type Transaction, type WriteDependencies, writeUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { meterColumnsFrom, storeMeter, type MeterRequest } from '../meters/create-meter.js';
import { MemberReader } from '../../records/member-rules.js';
import {
  alreadyExists,
  invalid,
  isRefusal,
  nestedRefusal,
  notFound,
  type Refusal,
} from '../../records/refusal.js';

type AlertLevel = { readonly condition: 'above' | 'below'; readonly threshold: number };

export type FeatureRequest = {
  readonly name: string;
  readonly type: 'metered' | 'boolean' | 'static';
  readonly lookup_key?: string | undefined;
  readonly description?: string | undefined;
  readonly meter_id?: string | undefined;
  readonly meter?: MeterRequest | undefined;
  readonly metadata?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly unit_singular?: string | undefined;
  readonly unit_plural?: string | undefined;
  readonly reporting_unit?:
    | {
        readonly conversion_rate: number;
        readonly unit_singular: string;
        readonly unit_plural: string;
      }
    | undefined;
  readonly alert_settings?:
    | {
        readonly alert_enabled?: boolean | undefined;
        readonly critical?: AlertLevel | undefined;
        readonly warning?: AlertLevel | undefined;
        readonly info?: AlertLevel | undefined;
      }
    | undefined;
  readonly group_id?: string | undefined;
};

export type CreatedFeature = { readonly feature: FeatureRow; readonly meter: MeterRow | null };

const LOOKUP_KEY_LENGTH_MAX = 255;

/** Lower case, each run of other characters than letters and digits becomes `_` (domain.md 3.2). */
export function lookupKeyOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .slice(0, LOOKUP_KEY_LENGTH_MAX);
}

function checkMeterReference(reader: MemberReader, request: FeatureRequest): void {
  const isNamed = request.meter_id !== undefined;
  const isInline = request.meter !== undefined;
  if (request.type === 'metered') {
    if (!isNamed && !isInline) reader.note('meter_id', 'or meter is required for type metered');
    if (isNamed && isInline) reader.note('meter', 'and meter_id exclude each other');
  } else if (isNamed || isInline) {
    reader.note(isNamed ? 'meter_id' : 'meter', `does not go with type ${request.type}`);
  }
}

function alertColumn(settings: FeatureRequest['alert_settings']): NewRow | null {
  if (settings === undefined) return null;
  return {
    alert_enabled: settings.alert_enabled ?? false,
    critical: settings.critical ?? null,
    warning: settings.warning ?? null,
    info: settings.info ?? null,
  };
}

function featureColumnsFrom(request: FeatureRequest): NewRow | Refusal {
  const reader = new MemberReader();
  const name = reader.name('name', request.name);
  checkMeterReference(reader, request);
  reader.later(request, ['group_id']);
  if ((request.unit_singular === undefined) !== (request.unit_plural === undefined)) {
    reader.note('unit_plural', 'and unit_singular come together');
  }
  if (request.reporting_unit !== undefined && !(request.reporting_unit.conversion_rate > 0)) {
    reader.note('reporting_unit.conversion_rate', 'is not greater than 0');
  }
  const columns = {
    name,
    description: request.description ?? null,
    lookup_key: request.lookup_key ?? lookupKeyOf(name),
    type: request.type,
    group_id: null,
    unit_singular: request.unit_singular ?? null,
    unit_plural: request.unit_plural ?? null,
    reporting_unit: request.reporting_unit ?? null,
    alert_settings: alertColumn(request.alert_settings),
    metadata: reader.metadata(request.metadata),
  };
  return reader.refusal() ?? columns;
}

/** A published meter that the request names. */
async function namedMeter(transaction: Transaction, id: string): Promise<MeterRow | Refusal> {
  const meter = (await findMetersForUse(transaction, [id])).get(id);
  if (meter === undefined) return notFound('meter', id);
  return meter.status === 'published' ? meter : invalid({ meter_id: 'is not published' });
}

function inlineMeterColumns(request: FeatureRequest): NewRow | null | Refusal {
  if (request.meter === undefined) return null;
  const columns = meterColumnsFrom(request.meter);
  return isRefusal(columns) ? nestedRefusal(columns, 'meter') : columns;
}

/** POST /features: a feature, together with its meter when the request brings one. */
export async function createFeature(
  { database, clock, createId }: WriteDependencies,
  caller: Caller,
  request: FeatureRequest,
): Promise<CreatedFeature | Refusal> {
  const columns = featureColumnsFrom(request);
  if (isRefusal(columns)) return columns;
  const meterColumns = inlineMeterColumns(request);
  if (isRefusal(meterColumns)) return meterColumns;
  const now = clock.now();
  const ids = { feature: createId('feat'), meter: createId('meter') };

  const meterOf = async (transaction: Transaction): Promise<MeterRow | null | Refusal> => {
    if (meterColumns !== null) {
      return storeMeter(transaction, { caller, id: ids.meter, now, columns: meterColumns });
    }
    return request.meter_id === undefined ? null : namedMeter(transaction, request.meter_id);
  };

  return writeUnit(
    { database, clock, createId },
    caller,
    async ({ tx: transaction }): Promise<CreatedFeature | Refusal> => {
      const meter = await meterOf(transaction);
      if (isRefusal(meter)) return meter;
      const common = newRecordColumns(caller, ids.feature, now);
      const row = { ...common, ...columns, meter_id: meter?.id ?? null };
      const [feature] = await insertRows(transaction, FEATURES, [row]);
      return feature === undefined ? alreadyExists('feature', 'lookup_key') : { feature, meter };
    },
  );
}
