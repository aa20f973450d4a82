import { assertThat } from '../../runtime/failure.js';

/** The key and value of one record. */
type KeyedText = { readonly key: string; readonly value: string };

/** The two columns of `event_log_batches` that hold the records of a batch. */
export type BatchText = { readonly lengths: string; readonly payload: string };

/**
 * Marks a batch with escaped texts: PostgreSQL's text cannot hold U+0000, so it is written as two
 * characters.
 */
const ESCAPED = '!';

function escape(text: string): string {
  return text.replaceAll('\u0001', '\u0001\u0001').replaceAll('\0', '\u0001\u0002');
}

function unescape(text: string): string {
  return text.replace(/\u0001([\u0001\u0002])/g, (_pair, mark) =>
    mark === '\u0001' ? '\u0001' : '\0',
  );
}

/**
 * Packs records into the texts of one row: the keys and values one after another, and their lengths
 * in UTF-16 units, which tell where each begins. The driver writes U+FFFD for half a surrogate
 * pair, which has no UTF-8 form; the length stays the same.
 */
export function encodeBatch(records: readonly KeyedText[]): BatchText {
  const payload = records.map(({ key, value }) => key + value).join('');
  if (!payload.includes('\0')) {
    const lengths = records.map(({ key, value }) => `${key.length}:${value.length}`).join(',');
    return { lengths, payload };
  }
  const escaped = records.map(({ key, value }) => ({ key: escape(key), value: escape(value) }));
  return {
    lengths: ESCAPED + escaped.map(({ key, value }) => `${key.length}:${value.length}`).join(','),
    payload: escaped.map(({ key, value }) => key + value).join(''),
  };
}

/**
 * The values of a packed batch, in order; keys are skipped.
 * @throws AssertionFailed when the lengths do not add up to the payload.
 */
export function decodeValues(batch: BatchText): readonly string[] {
  const isEscaped = batch.lengths.startsWith(ESCAPED);
  const pairs = (isEscaped ? batch.lengths.slice(1) : batch.lengths).split(',');
  const values: string[] = [];
  let position = 0;
  for (const pair of pairs) {
    const colon = pair.indexOf(':');
    const start = position + Number(pair.slice(0, colon));
    position = start + Number(pair.slice(colon + 1));
    const value = batch.payload.slice(start, position);
    values.push(isEscaped ? unescape(value) : value);
  }
  assertThat(
    position === batch.payload.length,
    'the lengths of a log batch do not add up to its payload',
  );
  return values;
}
