import { z } from 'zod';
import { AGGREGATION_TYPES, type MeterAggregation } from '../contract/aggregation.js';
import { numericColumn } from './columns.js';

/** The columns of an aggregation in `meters` and `meter_versions`, for the rows of statements. */
export const aggregationColumns = {
  aggregation_type: z.enum(AGGREGATION_TYPES),
  aggregation_field: z.string().nullable(),
  aggregation_expression: z.string().nullable(),
  aggregation_multiplier: numericColumn.nullable(),
  aggregation_group_by: z.string().nullable(),
};

type AggregationRow = {
  readonly [Column in keyof typeof aggregationColumns]: z.output<
    (typeof aggregationColumns)[Column]
  >;
};

export function aggregationFromRow(row: AggregationRow): MeterAggregation {
  return {
    type: row.aggregation_type,
    field: row.aggregation_field,
    expression: row.aggregation_expression,
    multiplier: row.aggregation_multiplier,
    groupBy: row.aggregation_group_by,
  };
}
