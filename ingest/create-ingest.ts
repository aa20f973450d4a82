import type { RequestListener } from 'node:http';
import { createIngestHandler } from './http/create-ingest-handler.js';
import { IngestServer, type ClientTimeouts } from './http/create-ingest-server.js';
import type { IngestDependencies } from './http/ingest-dependencies.js';

export type IngestOptions = IngestDependencies & {
  /** Answers every request that is not `POST /v1/events` or `POST /v1/events/bulk`. */
  readonly fallback: RequestListener;
  readonly timeouts?: ClientTimeouts;
};

/**
 * The HTTP server of a port with the event routes in front of a fallback: the operational pages in
 * `ingest/main.ts`, the REST API when everything shares one port.
 */
export function createIngest(options: IngestOptions): IngestServer {
  return new IngestServer({ ...options, handler: createIngestHandler(options) });
}
