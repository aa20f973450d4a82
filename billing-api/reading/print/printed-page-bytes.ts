import { mapInTurns } from '../../../runtime/loop-turns.js';
import type { PrintedPage } from './printed-invoice.js';

/** A page as it is handed to a thread: JSON, whose rows are written in slices. */
export async function bytesOfPage({ rows, ...page }: PrintedPage): Promise<Buffer> {
  const head = Buffer.from(`${JSON.stringify(page).slice(0, -1)},"rows":[`);
  let separator = '';
  const pieces = await mapInTurns(rows, (row) => {
    const bytes = Buffer.from(`${separator}${JSON.stringify(row)}`);
    separator = ',';
    return bytes;
  });
  return Buffer.concat([head, ...pieces, Buffer.from(']}')]);
}

export function pageOfBytes(bytes: Uint8Array): PrintedPage {
  // What bytesOfPage wrote.
  return JSON.parse(Buffer.from(bytes).toString()) as PrintedPage;
}
