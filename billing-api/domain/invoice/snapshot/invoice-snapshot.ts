import type { UsageWatermark } from '../../usage/watermark.js';
import type { InvoiceInputs } from '../invoice.js';
import { decodeValue } from './decode-value.js';
import { encodeValue, isPlainObject, type JsonValue } from './encode-value.js';

/**
 * The version of the rules by which inputs become an invoice. It rises when the same inputs would
 * give other bytes; a release then keeps the rules of the earlier versions for their inputs.
 */
export const RULES_VERSION = 1;

/** How inputs are written. */
const FORMAT_VERSION = 1;

/** The inputs of an invoice with what else decided its bytes (docs/domain.md 13.1). */
export type InvoiceSnapshot = {
  readonly rulesVersion: number;
  /** The release of the IANA time zone data, such as `2026a`. */
  readonly timeZoneData: string;
  readonly inputs: InvoiceInputs;
  /** Which events the usage counts; null where it was not read from a log. */
  readonly watermark: UsageWatermark | null;
};

/** A snapshot by the rules of this release as a text; `decodeSnapshot` returns an equal one. */
export function encodeSnapshot({
  inputs,
  timeZoneData,
  watermark,
}: Omit<InvoiceSnapshot, 'rulesVersion'>): string {
  return JSON.stringify({
    format: FORMAT_VERSION,
    rules: RULES_VERSION,
    time_zone_data: timeZoneData,
    ...(watermark === null ? {} : { watermark: encodeValue(watermark) }),
    inputs: encodeValue(inputs),
  });
}

/**
 * The snapshot that `encodeSnapshot` wrote.
 * @throws TypeError for another text, or one of a format or of rules that this release lacks.
 */
export function decodeSnapshot(text: string): InvoiceSnapshot {
  const read: unknown = JSON.parse(text);
  if (!isPlainObject(read) || read['format'] !== FORMAT_VERSION) {
    throw new TypeError('this release cannot read the format of the invoice inputs');
  }
  const { rules, time_zone_data: timeZoneData, inputs, watermark = null } = read;
  if (rules !== RULES_VERSION || typeof timeZoneData !== 'string') {
    throw new TypeError(`this release lacks version ${String(rules)} of the billing rules`);
  }
  // Written by `encodeSnapshot` of the same format, from the same types.
  return {
    rulesVersion: RULES_VERSION,
    timeZoneData,
    inputs: decodeValue(inputs as JsonValue) as InvoiceInputs,
    watermark: decodeValue(watermark as JsonValue) as UsageWatermark | null,
  };
}
