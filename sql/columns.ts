import { z } from 'zod';

// Schemas of column types, for the rows of statements.

/** numeric: plain decimal text, exactly as stored. */
export const numericColumn = z.string().regex(/^-?\d+(\.\d+)?$/);

/** int8 with values below 2^53 (counts, offsets, versions): turned from text into a number. */
export const integerColumn = z
  .string()
  .regex(/^-?\d+$/)
  .transform(Number)
  .refine(Number.isSafeInteger, 'must be below 2^53');

/** timestamptz: milliseconds since 1970 (InstantMs). */
export const instantColumn = z.number().int();

/** jsonb with the filters of a meter (MeterFilter[]). */
export const meterFiltersColumn = z.array(
  z.object({ key: z.string(), values: z.array(z.string()) }),
);

/** For statements that return no rows. */
export const noRows = z.object({}).strict();
