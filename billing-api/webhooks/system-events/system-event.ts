import { z } from 'zod';
import { instantColumn, integerColumn } from '../../../sql/columns.js';

export const systemEventRow = z.object({
  id: z.string(),
  sequence: integerColumn,
  event_name: z.string(),
  entity_type: z.string(),
  entity_id: z.string(),
  payload: z.record(z.unknown()),
  published_at: instantColumn.nullable(),
  failure_count: z.number(),
  failure_reason: z.string().nullable(),
  created_at: instantColumn,
});
export type SystemEventRow = z.output<typeof systemEventRow>;

export interface SystemEventsQuery {
  /**
   * The events with greater numbers are answered.
   * @isInt
   * @minimum 0
   * @maximum 9007199254740991
   * @default 0
   */
  after?: number;
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   * @default 100
   */
  limit?: number;
  /** @maxLength 100 */
  event_type?: string;
}
