import { assertThat } from '../../runtime/failure.js';

/** What one record contributes to a batch. */
type KeyedText = { readonly key: string; readonly value: string };

/** The two texts that a row of `event_log_batches` keeps of its records. */
export type BatchText = { readonly lengths: string; readonly payload: string };

/** PostgreSQL's text cannot hold U+0000, so it is written as two characters where it occurs. */
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
 * Packs records into the texts of one row: keys and values one after another, and the lengths of
 * both in UTF-16 units, which tell where each begins. An unpaired surrogate has no UTF-8 form: the
 * driver writes U+FFFD for it, of the same length.
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
  assertThat(position === batch.payload.length, 'a log batch has other lengths than its payload');
  return values;
}
