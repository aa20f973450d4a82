import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import type { BodyLease } from './body-budget.js';

/** The largest body of the event routes, inflated as well as on the wire (docs/http.md 1.7). */
export const BODY_BYTES_MAX = 32 * 1024 * 1024;

/**
 * How much of an unwanted body is read after the answer. If the connection were closed at once, a
 * client that is still sending would get a reset and never see the answer. Without a bound it could
 * send for ever.
 */
const DISCARD_BYTES_MAX = 2 * BODY_BYTES_MAX;

export type BodyOutcome =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' | 'no_room' | 'corrupt_gzip' | 'gone' };

export type BodyOptions = { readonly isGzip: boolean; readonly lease: BodyLease };

/** Discards the rest of a body so that the connection can be reused; closes it after the bound. */
export function discardBody(request: IncomingMessage): void {
  let discarded = 0;
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > DISCARD_BYTES_MAX) request.destroy();
  });
  request.on('error', () => undefined);
  request.resume();
}

/** The chunks of a body, within the size limit and the lease. */
class BodyChunks {
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(private readonly lease: BodyLease) {}

  /** Null when the chunk was added, else why it was not. */
  add(chunk: Buffer): 'too_large' | 'no_room' | null {
    this.#size += chunk.length;
    if (this.#size > BODY_BYTES_MAX) return 'too_large';
    if (!this.lease.grow(chunk.length)) return 'no_room';
    this.#chunks.push(chunk);
    return null;
  }

  bytes(): Buffer {
    const [first] = this.#chunks;
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
  }
}

function readPlain(request: IncomingMessage, lease: BodyLease): Promise<BodyOutcome> {
  return new Promise((resolve) => {
    const chunks = new BodyChunks(lease);
    const onData = (chunk: Buffer): void => {
      const problem = chunks.add(chunk);
      if (problem === null) return;
      request.off('data', onData);
      discardBody(request);
      resolve({ kind: problem });
    };
    request.on('data', onData);
    request.on('end', () => resolve({ kind: 'body', bytes: chunks.bytes() }));
    request.on('error', () => resolve({ kind: 'gone' }));
    request.on('close', () => resolve({ kind: 'gone' }));
  });
}

/**
 * Inflates while reading. The size limit and the lease count inflated bytes as they come, so that a
 * gzip bomb is stopped at the limit. Compressed bytes are limited too, because an endless series of
 * empty gzip members inflates to nothing.
 */
function readGzip(request: IncomingMessage, lease: BodyLease): Promise<BodyOutcome> {
  return new Promise((resolve) => {
    const gunzip = createGunzip();
    const chunks = new BodyChunks(lease);
    let compressed = 0;
    const stop = (kind: 'too_large' | 'no_room' | 'corrupt_gzip'): void => {
      request.unpipe(gunzip);
      request.off('data', countCompressed);
      gunzip.destroy();
      discardBody(request);
      resolve({ kind });
    };
    const countCompressed = (chunk: Buffer): void => {
      compressed += chunk.length;
      if (compressed > BODY_BYTES_MAX) stop('too_large');
    };
    request.on('data', countCompressed);
    gunzip.on('data', (chunk: Buffer) => {
      const problem = chunks.add(chunk);
      if (problem !== null) stop(problem);
    });
    gunzip.on('end', () => resolve({ kind: 'body', bytes: chunks.bytes() }));
    gunzip.on('error', () => stop('corrupt_gzip'));
    const onGone = (): void => {
      if (request.complete) return;
      gunzip.destroy();
      resolve({ kind: 'gone' });
    };
    request.on('error', onGone);
    request.on('close', onGone);
    request.pipe(gunzip);
  });
}

/** The inflated body, or why it could not be read; the rest of a body that failed is discarded. */
export function readBody(request: IncomingMessage, options: BodyOptions): Promise<BodyOutcome> {
  return options.isGzip ? readGzip(request, options.lease) : readPlain(request, options.lease);
}
