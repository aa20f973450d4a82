import { EVENT_LOG_SETTINGS } from '../event-log/open-log.js';
import { required } from '../runtime/config.js';
import { listenOn, publicAddress } from '../runtime/http/listen-on.js';
import { OPERATIONS_SETTINGS, serveOperations } from '../runtime/http/serve-operations.js';
import { endProgram } from '../runtime/lifecycle.js';
import { openProgram } from '../runtime/program.js';
import { openIngest } from './open-ingest.js';

const { config, log, lifecycle } = openProgram('ingest', {
  names: [
    ...EVENT_LOG_SETTINGS,
    ...OPERATIONS_SETTINGS,
    'DATABASE_URL',
    'MINUTEBOOK_PORT',
    'MINUTEBOOK_HOST',
    'MINUTEBOOK_STALE_KEY_SECONDS',
    'MINUTEBOOK_INGEST_RATE',
    'MINUTEBOOK_FAILED_AUTH_RATE',
    'MINUTEBOOK_PROXY_COUNT',
    'MINUTEBOOK_PUBLIC_RATE',
    'MINUTEBOOK_BILLING_API_URL',
  ],
});

/** Ingest as a separate program; `npm start` opens the same in its own process. */
async function start(): Promise<void> {
  const settings = { ...config, DATABASE_URL: required(config, 'DATABASE_URL') };
  const url = config.MINUTEBOOK_BILLING_API_URL;
  const billingApi = url === undefined ? null : { origin: () => url, isOnlyPort: false };
  const opened = await openIngest({ config: settings, log, lifecycle, billingApi });
  const { server, operations, metrics } = opened;
  const metricsPort = await serveOperations({ config, operations, metrics, lifecycle });
  const port = await listenOn(server, publicAddress(config));
  lifecycle.onClose('http', () => server.close());
  log.info({ port, metricsPort, billingApi: url }, 'listening');
}

try {
  await start();
} catch (error) {
  await lifecycle.close();
  endProgram(error, log);
}
