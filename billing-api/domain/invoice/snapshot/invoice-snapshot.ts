import { assertThat } from '../../../../runtime/failure.js';
import type { PrepaidWallet } from '../../adjustments/adjustments.js';
import type { UsageWatermark } from '../../usage/watermark.js';
import type { InvoiceInputs } from '../invoice.js';
import { decodeValue } from './decode-value.js';
import { encodeValue, isPlainObject, type JsonValue } from './encode-value.js';

/** How inputs are written. */
const FORMAT_VERSION = 1;

/** The inputs of an invoice with what else decided its bytes (docs/domain.md 13.1). */
export type InvoiceSnapshot = {
  /** The version of the rules that computed the invoice (`rulesOf`). */
  readonly rulesVersion: number;
  /** The release of the IANA time zone data, such as `2026a`. */
  readonly timeZoneData: string;
  readonly inputs: InvoiceInputs;
  /** Which events the usage counts; null where it was not read from a log. */
  readonly watermark: UsageWatermark | null;
};

/** A snapshot as a text; `decodeSnapshot` returns an equal one. */
export function encodeSnapshot({
  rulesVersion,
  inputs,
  timeZoneData,
  watermark,
}: InvoiceSnapshot): string {
  return JSON.stringify({
    format: FORMAT_VERSION,
    rules: rulesVersion,
    time_zone_data: timeZoneData,
    ...(watermark === null ? {} : { watermark: encodeValue(watermark) }),
    inputs: encodeValue(inputs),
  });
}

function readSnapshot(text: string) {
  const read: unknown = JSON.parse(text);
  if (!isPlainObject(read) || read['format'] !== FORMAT_VERSION) {
    throw new TypeError('this release cannot read the format of the invoice inputs');
  }
  return read;
}

/** A snapshot that `encodeSnapshot` wrote, with other wallets that pay, and as a text again. */
export function withOtherWallets(text: string, wallets: readonly PrepaidWallet[]): string {
  const { inputs, ...read } = readSnapshot(text);
  assertThat(isPlainObject(inputs), 'the inputs of a snapshot');
  return JSON.stringify({ ...read, inputs: { ...inputs, wallets: encodeValue(wallets) } });
}

/**
 * The snapshot that `encodeSnapshot` wrote.
 * @throws TypeError for another text, or one of a format that this release lacks.
 */
export function decodeSnapshot(text: string): InvoiceSnapshot {
  const { rules, time_zone_data: timeZoneData, inputs, watermark = null } = readSnapshot(text);
  if (typeof rules !== 'number' || typeof timeZoneData !== 'string') {
    throw new TypeError('the invoice inputs do not say by which rules they are computed');
  }
  // Written by `encodeSnapshot` of the same format, from the same types.
  return {
    rulesVersion: rules,
    timeZoneData,
    inputs: decodeValue(inputs as JsonValue) as InvoiceInputs,
    watermark: decodeValue(watermark as JsonValue) as UsageWatermark | null,
  };
}
