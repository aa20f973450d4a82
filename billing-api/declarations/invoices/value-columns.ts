import { z } from 'zod';
import { decimalOf, plain, type Decimal } from '../../../contract/number/decimal.js';
import { decodeValue } from '../../domain/invoice/snapshot/decode-value.js';
import { encodeValue, type JsonValue } from '../../domain/invoice/snapshot/encode-value.js';
import type { Column } from '../../records/columns.js';
import { numericColumn } from '../../../sql/columns.js';

/** numeric that is a decimal in code, as the domain computes with it. */
export const figure: Column<Decimal, string> = {
  schema: numericColumn.transform(decimalOf),
  comparison: 'number',
  toJson: plain,
  toAnswer: plain,
};

/**
 * text with a value of the domain, without loss: every digit of its decimals, and its members in
 * their order, which jsonb would change. It is neither compared nor answered as it is.
 */
export function kept<Value>(): Column<Value, Value> {
  return {
    // Written by `toJson` from the same type.
    schema: z.string().transform((text) => decodeValue(JSON.parse(text) as JsonValue) as Value),
    comparison: null,
    toJson: (value) => JSON.stringify(encodeValue(value)),
    toAnswer: (value) => value,
  };
}
