import { pipeline, Readable, Transform } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Interval } from '../../../contract/instant.js';
import type { OutboundAgents } from '../../../runtime/guarded-agents.js';
import type { S3Secrets } from '../../declarations/exports/connection.resource.js';
import type { ScheduledTaskRow } from '../../declarations/exports/scheduled-task.resource.js';
import { exportKey, manifestKey } from '../../domain/outward/export-windows.js';
import { csvLines } from '../../reading/events/csv.js';
import type { ExportedFile } from './export-needs.js';
import { ByteTally, manifestText, RowTally } from './file-manifest.js';
import { openStore } from './open-store.js';

/** Where a file and its manifest have been written, and what they hold. */
export type WrittenFile = {
  readonly fileUrl: string;
  readonly manifestUrl: string;
  readonly recordCount: number;
  readonly lateCount: number;
  readonly sha256: string;
};

async function* textOf({ header, pages }: ExportedFile, rows: RowTally): AsyncGenerator<string> {
  yield csvLines([header]);
  for await (const page of pages) {
    for (const row of page) rows.add(row);
    if (page.length > 0) yield csvLines(page);
  }
}

/** The bytes of a file, which are counted on their way. */
function bytesOf(text: Readable, isZipped: boolean, bytes: ByteTally): Readable {
  const counted = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes.add(chunk);
      done(null, chunk);
    },
  });
  // Whoever reads what comes out is told of an error.
  const ignored = (): undefined => undefined;
  return isZipped
    ? pipeline(text, createGzip(), counted, ignored)
    : pipeline(text, counted, ignored);
}

type StoredObject = {
  readonly key: string;
  readonly type: string;
  readonly body: Readable | Buffer;
  /** Aborts when somebody else writes it. */
  readonly signal: AbortSignal;
};

/**
 * The object appears in the store when all of it is there, or not at all.
 * @throws when the signal aborts before it is there.
 */
export async function upload(
  client: S3Client,
  { job_config: { bucket, encryption } }: ScheduledTaskRow,
  { key, type, body, signal }: StoredObject,
): Promise<void> {
  const { Upload } = await import('@aws-sdk/lib-storage');
  const place = { Bucket: bucket, Key: key, ServerSideEncryption: encryption };
  signal.throwIfAborted();
  const params = { ...place, ContentType: type, Body: body };
  // It reads the signal alone: what has begun is given up, and its parts are removed.
  const abortController = { signal, abort: () => undefined };
  await new Upload({ client, params, abortController }).done();
  signal.throwIfAborted();
}

/**
 * Writes the file of a window, and then its manifest, so that who finds the manifest finds the file
 * whole. The same window writes the same keys.
 */
export async function writeFile(
  scheduled: ScheduledTaskRow,
  { window, file, secrets, outbound, signal }: FileToWrite,
): Promise<WrittenFile> {
  const { job_config: config, entity_type: entityType } = scheduled;
  const isZipped = config.compression === 'gzip';
  const key = exportKey(window, { prefix: config.key_prefix, entityType, isZipped });
  const [rows, bytes] = [new RowTally(file, window), new ByteTally()];
  const url = (name: string): string => `s3://${config.bucket}/${name}`;
  const client = await openStore(scheduled, secrets, outbound);
  try {
    const body = bytesOf(Readable.from(textOf(file, rows)), isZipped, bytes);
    await upload(client, scheduled, {
      key,
      type: isZipped ? 'application/gzip' : 'text/csv',
      body,
      signal,
    });
    const sha256 = bytes.digest();
    const facts = { window, header: file.header, fileUrl: url(key), rows, sha256 };
    const manifest = manifestText(scheduled, { ...facts, bytes: bytes.bytes });
    await upload(client, scheduled, {
      key: manifestKey(key),
      type: 'application/json',
      body: Buffer.from(manifest),
      signal,
    });
    const { recordCount, lateCount } = rows;
    const urls = { fileUrl: url(key), manifestUrl: url(manifestKey(key)) };
    return { ...urls, recordCount, lateCount, sha256 };
  } finally {
    client.destroy();
  }
}

/** What is written, with what access, and how it gets out. */
export type FileToWrite = {
  readonly window: Interval;
  readonly file: ExportedFile;
  readonly secrets: S3Secrets;
  readonly outbound: OutboundAgents;
  readonly signal: AbortSignal;
};
