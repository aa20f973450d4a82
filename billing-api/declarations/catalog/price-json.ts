import { z } from 'zod';
import { decimalOf, plain, type Decimal } from '../../../contract/number/decimal.js';
import type { DecimalText } from '../../../contract/wire-types.js';
import type { Tier } from '../../domain/price/price-figures.js';
import { textKeyed } from '../../records/columns.js';

/* Values of a price that are stored and answered as JSON. */

export interface TierDto {
  unit_amount: DecimalText;
  flat_amount: DecimalText | null;
  /** @isInt */
  up_to: number | null;
}

export interface TransformQuantityDto {
  /** @isInt */
  divide_by: number;
  round: 'up' | 'down';
}

export interface FilterValuesDto {
  [key: string]: string[];
}

export const tierList = z.array(
  z.object({
    unit_amount: z.string(),
    flat_amount: z.string().nullable(),
    up_to: z.number().int().nullable(),
  }),
);
export const transformQuantity = z.object({
  divide_by: z.number().int(),
  round: z.enum(['up', 'down']),
});

const timeOfDay = z.object({ hour: z.number().int(), minute: z.number().int() });
export const timeBucketList = z.array(
  z.object({
    id: z.string(),
    start: timeOfDay,
    end: timeOfDay,
    commitment_type: z.enum(['amount', 'quantity']),
    commitment_value: z.string(),
    /** At least 1, as the request gave it. */
    overage_factor: z.number(),
    true_up_enabled: z.boolean(),
    price_id: z.string(),
  }),
);
/** Hours of the day with a commitment and a price of their own (docs/domain.md 11.5). */
export type TimeBucketColumn = z.output<typeof timeBucketList>[number];

export const filterValues = textKeyed(z.array(z.string()));

export const decimalOrNull = (text: string | null): Decimal | null =>
  text === null ? null : decimalOf(text);
export const textOrNull = (value: Decimal | null): string | null =>
  value === null ? null : plain(value);

export function tierFromColumn(tier: TierDto): Tier {
  return {
    unitAmount: decimalOf(tier.unit_amount),
    flatAmount: decimalOrNull(tier.flat_amount),
    upTo: tier.up_to,
  };
}

export function tierToColumn(tier: Tier): TierDto {
  return {
    unit_amount: plain(tier.unitAmount),
    flat_amount: textOrNull(tier.flatAmount),
    up_to: tier.upTo,
  };
}
