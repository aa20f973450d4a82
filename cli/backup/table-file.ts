import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import { BackupRefused, type TableContents } from './manifest.js';

const LINE_END = 10;

/** Passes chunks on and counts lines. Line ends inside of values are escaped in both formats. */
class LineCounter extends Transform {
  lines = 0;

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error: null, chunk: Buffer) => void,
  ): void {
    for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, at + 1)) {
      this.lines += 1;
    }
    done(null, chunk);
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Writes the rows of a table, a line each, into a compressed file, and waits until the disk has it.
 * @throws BackupRefused when there are not as many as expected: the server ended them early.
 */
export async function writeTableFile(
  path: string,
  rows: Readable,
  { table, rows: expected }: TableContents,
): Promise<void> {
  const counter = new LineCounter();
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  await pipeline(rows, counter, gzip, createWriteStream(path, { flags: 'wx' }));
  await sync(path);
  if (String(counter.lines) === expected) return;
  throw new BackupRefused(
    `${counter.lines} rows of ${table} came instead of ${expected}: try again`,
  );
}

/** The rows of a file as they were written. */
export function readTableFile(path: string): Readable {
  const rows = createGunzip();
  // A failure to read must reach who reads the rows.
  pipeline(createReadStream(path), rows).catch((error: unknown) => {
    rows.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  return rows;
}
