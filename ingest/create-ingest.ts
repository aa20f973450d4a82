import type { RequestListener } from 'node:http';
import { createIngestHandler, type IngestDependencies } from './http/create-ingest-handler.js';
import { IngestServer, type ClientTimeouts } from './http/create-ingest-server.js';

export type IngestOptions = IngestDependencies & {
  /** Gets every request that is not `POST /v1/events` or `POST /v1/events/bulk`. */
  readonly fallback: RequestListener;
  readonly timeouts?: ClientTimeouts;
};

/**
 * The HTTP server of a port with the event routes in front: alone with its operational routes as
 * `ingest/main.ts`, or before the REST API when everything shares one port.
 */
export function createIngest(options: IngestOptions): IngestServer {
  return new IngestServer({ ...options, handler: createIngestHandler(options) });
}
