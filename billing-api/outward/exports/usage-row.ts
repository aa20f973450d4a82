import { plain } from '../../../contract/number/decimal.js';
import { formatInstant, type Interval } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import type { FeatureRow } from '../../declarations/catalog/feature.resource.js';
import type { CustomerRow } from '../../declarations/customers/customer.resource.js';
import type { ExportMetadataFieldDto } from '../../declarations/exports/scheduled-task.resource.js';
import { rowOf, type Row } from './export-needs.js';
import { metadataCell } from './metadata-cell.js';
import type { SourceFigures } from './usage-figures.js';

/** The columns of a file of usage (docs/domain.md 33.6). */
export const USAGE_COLUMNS = [
  'customer_name',
  'customer_id',
  'customer_external_id',
  'start_time',
  'end_time',
  'feature_name',
  'feature_id',
  'feature_group_name',
  'event_name',
  'event_count',
  'aggregation_type',
  'total_usage',
  'total_cost',
  'currency',
  'source',
] as const;

/** What rows are made with, for all customers of the file. */
export type Catalog = {
  readonly meters: ReadonlyMap<string, EffectiveMeter>;
  /** The oldest published feature of each meter that has one. */
  readonly features: ReadonlyMap<string, FeatureRow>;
  readonly groups: ReadonlyMap<string, { readonly name: string }>;
};

/** What a row says beside its customer, interval and meter. */
export type Cells = SourceFigures & {
  readonly cost: string | null;
  readonly currency: string | null;
};

/** Of whom and of when a row is. */
type Named = {
  readonly customer: CustomerRow;
  readonly interval: Interval;
  readonly fields: readonly ExportMetadataFieldDto[];
  readonly catalog: Catalog;
};

/** Name, id and group of the feature of a meter; empty where it has none. */
function featureCells({ features, groups }: Catalog, meterId: string) {
  const feature = features.get(meterId);
  if (feature === undefined) {
    return { feature_name: null, feature_id: null, feature_group_name: null };
  }
  const { id, name, group_id: group } = feature;
  const known = group === null ? null : mustGet(groups, group, 'the group of a feature');
  return { feature_name: name, feature_id: id, feature_group_name: known?.name ?? null };
}

/** A row of a file of usage. */
export function usageRow(
  { customer, interval, fields, catalog }: Named,
  meterId: string,
  cells: Cells,
): Row {
  const meter = catalog.meters.get(meterId) ?? null;
  const own = {
    customer_name: customer.name,
    customer_id: customer.id,
    customer_external_id: customer.external_id,
    start_time: formatInstant(interval.startMs),
    end_time: formatInstant(interval.endMs),
    ...featureCells(catalog, meterId),
    event_name: meter?.eventName ?? null,
    event_count: String(cells.eventCount),
    aggregation_type: meter?.aggregation.type ?? null,
    total_usage: plain(cells.usage),
    total_cost: cells.cost,
    currency: cells.currency,
    source: cells.source === '' ? null : cells.source,
  };
  return [
    ...rowOf(USAGE_COLUMNS, own),
    ...fields.map(({ field_key: key }) => metadataCell([customer.metadata], key)),
  ];
}
