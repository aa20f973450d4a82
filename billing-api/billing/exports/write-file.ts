import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Interval } from '../../../contract/instant.js';
import type { OutboundAgents } from '../../../runtime/guarded-agents.js';
import type { S3Secrets } from '../../declarations/exports/connection.resource.js';
import type { ScheduledTaskRow } from '../../declarations/exports/scheduled-task.resource.js';
import { exportKey } from '../../domain/exports/export-windows.js';
import { csvLines } from '../line-events/csv.js';
import type { ExportedFile } from './exported-rows.js';

/** Where a file has been written, and how many rows it has. */
export type WrittenFile = { readonly fileUrl: string; readonly recordCount: number };

/** How long a connection to a store may be silent. */
const SILENCE_MS = 60_000;

type Counter = { count: number };

async function* textOf({ header, pages }: ExportedFile, rows: Counter): AsyncGenerator<string> {
  yield csvLines([header]);
  for await (const page of pages) {
    rows.count += page.length;
    yield csvLines(page);
  }
}

/** The store of a connection. The client is loaded when it is used: it is large. */
async function openStore(
  { job_config: config }: ScheduledTaskRow,
  secrets: S3Secrets,
  outbound: OutboundAgents,
) {
  const { S3Client } = await import('@aws-sdk/client-s3');
  const { session_token: sessionToken } = secrets;
  return new S3Client({
    region: config.region,
    forcePathStyle: config.use_path_style,
    ...(config.endpoint_url === null ? {} : { endpoint: config.endpoint_url }),
    credentials: {
      accessKeyId: secrets.access_key_id,
      secretAccessKey: secrets.secret_access_key,
      ...(sessionToken === undefined ? {} : { sessionToken }),
    },
    // Stores that only speak the interface know no other checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    maxAttempts: 2,
    requestHandler: {
      ...{ httpAgent: outbound.http, httpsAgent: outbound.https },
      ...{ connectionTimeout: 10_000, requestTimeout: SILENCE_MS },
    },
  });
}

/**
 * Writes the file of a window. It appears in the store when all of it is there, or not at all, and
 * the same window writes the same key.
 */
export async function writeFile(
  scheduled: ScheduledTaskRow,
  { window, file, secrets, outbound }: FileToWrite,
): Promise<WrittenFile> {
  const { job_config: config, entity_type: entityType } = scheduled;
  const isZipped = config.compression === 'gzip';
  const Key = exportKey(window, { prefix: config.key_prefix, entityType, isZipped });
  const rows: Counter = { count: 0 };
  const text = Readable.from(textOf(file, rows));
  const { Upload } = await import('@aws-sdk/lib-storage');
  const client = await openStore(scheduled, secrets, outbound);
  try {
    const upload = new Upload({
      client,
      params: {
        ...{ Bucket: config.bucket, Key, ServerSideEncryption: config.encryption },
        ContentType: isZipped ? 'application/gzip' : 'text/csv',
        Body: isZipped ? pipeline(text, createGzip(), () => undefined) : text,
      },
    });
    await upload.done();
  } finally {
    client.destroy();
  }
  return { fileUrl: `s3://${config.bucket}/${Key}`, recordCount: rows.count };
}

/** What is written, with what access, and how it gets out. */
export type FileToWrite = {
  readonly window: Interval;
  readonly file: ExportedFile;
  readonly secrets: S3Secrets;
  readonly outbound: OutboundAgents;
};
