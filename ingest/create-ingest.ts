import type { RequestListener } from 'node:http';
import { ProgramServer, serveWith, type ClientTimeouts } from '../runtime/http/program-server.js';
import { answerPreflight } from './http/cross-origin.js';
import { createIngestHandler } from './http/create-ingest-handler.js';
import type { IngestDependencies } from './http/ingest-dependencies.js';

export type IngestOptions = IngestDependencies & {
  /** Answers every request that is not for one of the two event routes. */
  readonly fallback: RequestListener;
  readonly timeouts?: ClientTimeouts;
  readonly lifecycle?: { readonly isStopping: boolean };
};

/**
 * The HTTP server of a port with the event routes in front of a fallback: the operational pages
 * alone, or also requests that are sent on to billing-api.
 */
export function createIngest(options: IngestOptions): ProgramServer {
  const serveOthers = serveWith(options.fallback);
  const handleEvents = createIngestHandler(options);
  return new ProgramServer({
    ...options,
    handler: (request, response, askForBody) => {
      if (answerPreflight(request, response)) return;
      if (!handleEvents(request, response, askForBody)) serveOthers(request, response, askForBody);
    },
  });
}
