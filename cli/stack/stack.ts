import { existsSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openIngest } from '../../ingest/open-ingest.js';
import { listenOn, publicAddress } from '../../runtime/http/listen-on.js';
import { Lifecycle } from '../../runtime/lifecycle.js';
import { createLog, type Log } from '../../runtime/log.js';
import { systemClock } from '../../runtime/clock.js';
import { bootstrap, type FirstTenant } from '../../sql/bootstrap.js';
import { createConsoleCode } from '../../sql/console-sessions.js';
import { fileProblemOf, makeDataDirectory } from './data-directory.js';
import { startEngines, type Engines } from './engines.js';
import { createApiKey } from '../../sql/api-key.js';
import { keptText, randomText } from '../../runtime/kept-text.js';
import {
  superviseAggregator,
  superviseBillingApi,
  type SupervisedBillingApi,
} from './program-process.js';
import type { StackConfig } from './stack-config.js';
import type { Supervised } from './supervise.js';

/** A running product. */
export type Stack = {
  /** `http://host:port`, without `/v1`. */
  readonly url: string;
  readonly apiKey: string;
  /** With a one-time code that opens the console; null when it is switched off. */
  readonly consoleUrl: string | null;
  /** Whether the key was never shown; it is shown then and not again. */
  readonly isNewKey: boolean;
  /** To be called once it has been shown. */
  readonly noteKeyShown: () => Promise<void>;
  readonly databaseUrl: string;
  /** Of the owner, who sees all rows. */
  readonly ownerDatabaseUrl: string;
  readonly clickhouseUrl: string;
  readonly readerClickhouseUrl: string;
  /** Null when `CLICKHOUSE_URL` names a server. */
  readonly clickhouse: Supervised | null;
  readonly aggregator: Supervised;
  readonly billingApi: Supervised;
  readonly lifecycle: Lifecycle;
};

type Opening = {
  readonly config: StackConfig;
  readonly engines: Engines;
  readonly logger: Log;
  readonly lifecycle: Lifecycle;
};

/** The settings as environment variables of a program of ours, without those that are absent. */
function environmentOf(settings: StackConfig): Record<string, string> {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** Beside the first API key until it has been shown. */
const NOT_SHOWN = 'first-api-key-not-shown';

type FirstApiKey = Pick<Stack, 'apiKey' | 'isNewKey' | 'noteKeyShown'>;

/**
 * The first API key: the configured one, or a random one. That one is kept in the data directory,
 * because the database holds only its hash, and the demo and a restart go on with the same key. It
 * counts as new until it has been shown, because the start that made it may have failed.
 */
async function firstApiKey({
  MINUTEBOOK_BOOTSTRAP_API_KEY: given,
  MINUTEBOOK_DATA_DIR: directory,
}: StackConfig): Promise<FirstApiKey> {
  if (given !== undefined) {
    return { apiKey: given, isNewKey: false, noteKeyShown: () => Promise.resolve() };
  }
  const notShown = join(directory, NOT_SHOWN);
  const create = (): string => {
    writeFileSync(notShown, '');
    return createApiKey('private_key');
  };
  const { text: apiKey } = await keptText(directory, 'first-api-key', { create });
  const noteKeyShown = (): Promise<void> => rm(notShown, { force: true });
  return { apiKey, isNewKey: existsSync(notShown), noteKeyShown };
}

/** The configured secret, or one of the first start, so that tokens outlive a restart. */
async function tokenSecret(config: StackConfig, logger: Log): Promise<string> {
  const given = config.MINUTEBOOK_TOKEN_SECRET;
  if (given !== undefined) return given;
  const directory = config.MINUTEBOOK_DATA_DIR;
  const kept = await keptText(directory, 'token-secret', { create: randomText });
  if (kept.isMended) {
    const message =
      'the file token-secret was empty, and another one was made: users sign in again';
    logger.warn(message);
  }
  return kept.text;
}

/** The configured key, or one of the first start; another one could not open what is kept. */
async function secretsKey(config: StackConfig): Promise<string> {
  const given = config.MINUTEBOOK_SECRETS_KEY;
  if (given !== undefined) return given;
  const directory = config.MINUTEBOOK_DATA_DIR;
  return (await keptText(directory, 'secrets-key', { create: randomText })).text;
}

type Programs = { readonly aggregator: Supervised; readonly billingApi: SupervisedBillingApi };

/** Starts the programs that run as processes of their own. */
async function startPrograms({ config, engines, logger, lifecycle }: Opening): Promise<Programs> {
  const { databaseUrl, clickhouseUrl, readerClickhouseUrl } = engines;
  const settings = { ...config, DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl };
  // The programs must not be able to become the owner.
  const withoutOwner = { MINUTEBOOK_OWNER_DATABASE_URL: '', MINUTEBOOK_READER_CLICKHOUSE_URL: '' };
  // Only billing-api signs tokens and keeps secrets.
  const withoutSecret = {
    MINUTEBOOK_TOKEN_SECRET: '',
    MINUTEBOOK_SECRETS_KEY: '',
    MINUTEBOOK_PREVIOUS_SECRETS_KEY: '',
  };
  // They end after this process has served its last request.
  const withoutDelay = { MINUTEBOOK_STOP_DELAY_MS: '0' };
  const environment = {
    ...process.env,
    ...environmentOf(settings),
    ...withoutOwner,
    ...withoutSecret,
    ...withoutDelay,
  };
  const billingApi = await superviseBillingApi(
    {
      ...environment,
      MINUTEBOOK_TOKEN_SECRET: await tokenSecret(config, logger),
      MINUTEBOOK_SECRETS_KEY: await secretsKey(config),
      ...(config.MINUTEBOOK_PREVIOUS_SECRETS_KEY === undefined
        ? {}
        : { MINUTEBOOK_PREVIOUS_SECRETS_KEY: config.MINUTEBOOK_PREVIOUS_SECRETS_KEY }),
      MINUTEBOOK_READER_CLICKHOUSE_URL: readerClickhouseUrl,
      MINUTEBOOK_HOST: '127.0.0.1',
      MINUTEBOOK_PORT: '0',
      // The setting is for the aggregator; the pages of billing-api are at the port of ingest.
      MINUTEBOOK_METRICS_PORT: '0',
      // All its requests come from ingest, which says whose they are.
      MINUTEBOOK_PROXY_COUNT: '1',
    },
    logger,
  );
  lifecycle.onClose('billing-api', () => billingApi.stop());
  const aggregator = await superviseAggregator(environment, logger);
  lifecycle.onClose('aggregator', () => aggregator.stop());
  return { aggregator, billingApi };
}

/** Opens ingest in this process; the port listens when billing-api does. Returns the address. */
async function openPort(opening: Opening, billingApi: SupervisedBillingApi): Promise<string> {
  const { config, engines, logger, lifecycle } = opening;
  const { server } = await openIngest({
    config: { ...config, DATABASE_URL: engines.databaseUrl },
    log: logger,
    lifecycle,
    billingApi: { origin: billingApi.origin, isOnlyPort: true },
  });
  await billingApi.listening;
  const port = await listenOn(server, publicAddress(config));
  lifecycle.onClose('http', () => server.close());
  return `http://${config.MINUTEBOOK_HOST}:${port}`;
}

/** The code stands behind `#`, which browsers send to no server, so that no log has it. */
async function consoleUrlOf(
  { config, engines }: Opening,
  { environment: { tenantId }, userId }: FirstTenant,
  url: string,
): Promise<string | null> {
  if (config.MINUTEBOOK_CONSOLE === 'off') return null;
  const owner = { tenantId, userId };
  const code = await createConsoleCode(engines.ownerDatabaseUrl, owner, systemClock.now());
  return `${url}/console/#code=${code}`;
}

async function openStack(beginning: Omit<Opening, 'engines'>): Promise<Stack> {
  const { config, logger, lifecycle } = beginning;
  await makeDataDirectory(config.MINUTEBOOK_DATA_DIR);
  const key = await firstApiKey(config);
  const engines = await startEngines(config, logger, lifecycle);
  const first = await bootstrap(engines.ownerDatabaseUrl, { apiKey: key.apiKey });
  const opening = { ...beginning, engines };
  const { aggregator, billingApi } = await startPrograms(opening);
  const url = await openPort(opening, billingApi);
  const consoleUrl = await consoleUrlOf(opening, first, url);
  return { ...engines, ...key, url, consoleUrl, aggregator, billingApi, lifecycle };
}

/**
 * Starts the whole product: engines, first key, ingest in this process, and billing-api and an
 * aggregator in processes of their own, so that pricing never delays an acknowledgement. Close it
 * through `lifecycle`. After a failure everything that was opened is closed again.
 * @param onClosed runs after everything else is closed.
 * @throws ConfigError or DependencyError that says what to do.
 */
export async function startStack(
  config: StackConfig,
  onClosed: () => Promise<void> = () => Promise.resolve(),
): Promise<Stack> {
  const logger = createLog('minutebook', config.MINUTEBOOK_LOG_LEVEL);
  const lifecycle = new Lifecycle(logger);
  lifecycle.onClose('caller', onClosed);
  try {
    return await openStack({ config, logger, lifecycle });
  } catch (error) {
    await lifecycle.close();
    throw fileProblemOf(error, config.MINUTEBOOK_DATA_DIR) ?? error;
  }
}
