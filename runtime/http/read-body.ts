import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import type { BodyLease } from './body-budget.js';
import type { StallWatch } from './stall-watch.js';

/**
 * How much of an unwanted body is read after the answer, and for how long. If the connection were
 * closed at once, a client that is still sending would get a reset and never see the answer.
 * Without bounds it could send for ever.
 */
const DISCARD_BYTES_MAX = 64 * 1024 * 1024;
const DISCARD_MS_MAX = 5_000;

type BodyProblem = 'too_large' | 'no_room' | 'corrupt_gzip' | 'stalled';

export type BodyOutcome =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  /** `gone`: the client has left, so that nobody can be answered. */
  | { readonly kind: BodyProblem | 'gone' };

export type BodyOptions = {
  readonly isGzip: boolean;
  /** Of the inflated body as well as on the wire. */
  readonly bytesMax: number;
  readonly lease: BodyLease;
  readonly stalls: StallWatch;
};

/** Discards the rest of a body so that the connection can be reused; closes it after the bounds. */
export function discardBody(request: IncomingMessage): void {
  let discarded = 0;
  const cut = setTimeout(() => request.destroy(), DISCARD_MS_MAX);
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > DISCARD_BYTES_MAX) request.destroy();
  });
  for (const event of ['end', 'close'] as const) request.on(event, () => clearTimeout(cut));
  request.on('error', () => undefined);
  request.resume();
}

/** The chunks of a body, within the size limit and the lease. */
class BodyChunks {
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(private readonly options: BodyOptions) {}

  /** Null when the chunk was added, else why it was not. */
  add(chunk: Buffer): 'too_large' | 'no_room' | null {
    this.#size += chunk.length;
    if (this.#size > this.options.bytesMax) return 'too_large';
    if (!this.options.lease.grow(chunk.length)) return 'no_room';
    this.#chunks.push(chunk);
    return null;
  }

  bytes(): Buffer {
    const [first] = this.#chunks;
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
  }
}

function readPlain(request: IncomingMessage, options: BodyOptions): Promise<BodyOutcome> {
  return new Promise((resolve) => {
    const chunks = new BodyChunks(options);
    const settle = (outcome: BodyOutcome): void => {
      progress.end();
      resolve(outcome);
    };
    const stop = (kind: BodyProblem): void => {
      request.off('data', onData);
      discardBody(request);
      settle({ kind });
    };
    const onData = (chunk: Buffer): void => {
      progress.note(chunk.length);
      const problem = chunks.add(chunk);
      if (problem !== null) stop(problem);
    };
    const progress = options.stalls.watch(() => stop('stalled'));
    request.on('data', onData);
    request.on('end', () => settle({ kind: 'body', bytes: chunks.bytes() }));
    request.on('error', () => settle({ kind: 'gone' }));
    request.on('close', () => settle({ kind: 'gone' }));
  });
}

/**
 * Inflates while reading. The size limit and the lease count inflated bytes as they come, so that a
 * gzip bomb is stopped at the limit. Compressed bytes are limited too, because an endless series of
 * empty gzip members inflates to nothing.
 */
function readGzip(request: IncomingMessage, options: BodyOptions): Promise<BodyOutcome> {
  return new Promise((resolve) => {
    const gunzip = createGunzip();
    const chunks = new BodyChunks(options);
    let compressed = 0;
    const settle = (outcome: BodyOutcome): void => {
      progress.end();
      resolve(outcome);
    };
    const stop = (kind: BodyProblem): void => {
      request.unpipe(gunzip);
      request.off('data', countCompressed);
      gunzip.destroy();
      discardBody(request);
      settle({ kind });
    };
    const countCompressed = (chunk: Buffer): void => {
      progress.note(chunk.length);
      compressed += chunk.length;
      if (compressed > options.bytesMax) stop('too_large');
    };
    const progress = options.stalls.watch(() => stop('stalled'));
    request.on('data', countCompressed);
    request.on('end', () => progress.end());
    gunzip.on('data', (chunk: Buffer) => {
      const problem = chunks.add(chunk);
      if (problem !== null) stop(problem);
    });
    gunzip.on('end', () => settle({ kind: 'body', bytes: chunks.bytes() }));
    gunzip.on('error', () => stop('corrupt_gzip'));
    const onGone = (): void => {
      if (request.complete) return;
      gunzip.destroy();
      settle({ kind: 'gone' });
    };
    request.on('error', onGone);
    request.on('close', onGone);
    request.pipe(gunzip);
  });
}

/** The inflated body, or why it could not be read; the rest of a body that failed is discarded. */
export function readBody(request: IncomingMessage, options: BodyOptions): Promise<BodyOutcome> {
  // The client left before we asked: no event would tell so any more.
  if (request.destroyed) return Promise.resolve({ kind: 'gone' });
  return options.isGzip ? readGzip(request, options) : readPlain(request, options);
}
