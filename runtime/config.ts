import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);
const count = z.coerce.number().int().positive();
/** Requests per second; 0 sets no limit. */
const rate = z.coerce.number().int().min(0);

/**
 * Every setting of every program: its shape, its default and its meaning. A test compares the table
 * of docs/operations.md 2 with this list. There is one list because the programs share an
 * environment, and each of them must refuse a misspelt key.
 */
export const SETTINGS = {
  DATABASE_URL: {
    schema: z.string().url().optional(),
    means:
      'PostgreSQL server, such as `postgres://user:password@host/minutebook`; only `npm start` has an embedded one',
  },
  CLICKHOUSE_URL: {
    schema: z.string().url().optional(),
    means:
      'ClickHouse server over HTTP, such as `http://user:password@host:8123/minutebook`; only `npm start` has an embedded one',
  },
  KAFKA_BROKERS: {
    schema: z.string().min(1).optional(),
    means: 'Kafka brokers (`host:port,host:port`) to use instead of the log in PostgreSQL',
  },
  KAFKA_TOPIC: {
    schema: z
      .string()
      .regex(
        /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/,
        'must be the name of a topic, such as usage.events.v1',
      )
      .optional(),
    means:
      'topic that is the log; each installation needs its own, so give another name when two of them share brokers',
  },
  KAFKA_SECURITY_PROTOCOL: {
    schema: z.enum(['plaintext', 'ssl', 'sasl_plaintext', 'sasl_ssl']).default('plaintext'),
    means:
      'protocol of the connections to the brokers: `plaintext`, `ssl` (TLS), `sasl_plaintext` (with a login) or `sasl_ssl` (both)',
  },
  KAFKA_SASL_MECHANISM: {
    schema: z.enum(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']).optional(),
    means: 'SASL mechanism of the login: `PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`',
  },
  KAFKA_SASL_USERNAME: {
    schema: z.string().min(1).optional(),
    means: 'user of the login',
  },
  KAFKA_SASL_PASSWORD: {
    schema: z.string().min(1).optional(),
    means: 'password of the login',
  },
  KAFKA_SSL_CA_FILE: {
    schema: z.string().min(1).optional(),
    means:
      'file (PEM) with the certificates of the authorities that sign those of the brokers; without it, well-known public ones',
  },
  KAFKA_SSL_CERTIFICATE_FILE: {
    schema: z.string().min(1).optional(),
    means: 'file (PEM) with the certificate of the programs, for brokers that ask for one',
  },
  KAFKA_SSL_KEY_FILE: {
    schema: z.string().min(1).optional(),
    means: 'file (PEM) with the private key of that certificate',
  },
  KAFKA_SSL_KEY_PASSWORD: {
    schema: z.string().min(1).optional(),
    means: 'password of the private key, when it has one',
  },
  MINUTEBOOK_PORT: {
    schema: port.default(8080),
    means: 'port of the HTTP interface',
  },
  MINUTEBOOK_HOST: {
    schema: z.string().min(1).default('127.0.0.1'),
    means: 'address on which the HTTP interface listens',
  },
  MINUTEBOOK_BILLING_API_URL: {
    schema: z
      .string()
      .regex(/^http:\/\/[^/?#@]+\/?$/, 'must be an address like http://host:8081')
      .optional(),
    means:
      'address of billing-api, to which ingest sends every request that is not for an event route, so that one base URL reaches both',
  },
  MINUTEBOOK_DATA_DIR: {
    schema: z.string().min(1).default('./.data'),
    means: 'directory of the embedded engines',
  },
  MINUTEBOOK_OWNER_DATABASE_URL: {
    schema: z.string().url().optional(),
    means:
      'login that owns the schema of the `DATABASE_URL` database, for migrations and the first key; `DATABASE_URL` may then be a login that owns nothing',
  },
  MINUTEBOOK_READER_CLICKHOUSE_URL: {
    schema: z.string().url().optional(),
    means:
      'ClickHouse user for the queries of requests, which may only read and sees one environment at a time',
  },
  MINUTEBOOK_BOOTSTRAP_API_KEY: {
    schema: z
      .string()
      .regex(/^sk_[A-Za-z0-9]{40}$/, 'must be sk_ and 40 letters or digits')
      .optional(),
    means: 'first API key, instead of a random one',
  },
  MINUTEBOOK_TOKEN_SECRET: {
    schema: z.string().min(32, 'must have at least 32 characters').optional(),
    means:
      'secret with which the tokens of users are signed, the same for every billing-api; whoever knows it can sign in as any user',
  },
  MINUTEBOOK_SECRETS_KEY: {
    schema: z.string().min(32, 'must have at least 32 characters').optional(),
    means:
      'key with which the secrets of connections and webhook endpoints are kept in the database, the same for every billing-api; without it none of them is taken, and with another one those that are kept cannot be used',
  },
  MINUTEBOOK_PREVIOUS_SECRETS_KEY: {
    schema: z.string().min(32, 'must have at least 32 characters').optional(),
    means:
      'the MINUTEBOOK_SECRETS_KEY until now, while it is replaced (section 1.7): what is kept with it can be used, and `minutebook secrets reseal` keeps it with the new one',
  },
  MINUTEBOOK_PRIVATE_TARGETS: {
    schema: z.enum(['allow', 'refuse']).default('refuse'),
    means:
      'whether exports, webhooks and requests to a gateway may go to addresses in a private network, as to a store of your own; whoever may make connections and endpoints can then reach what this server reaches',
  },
  MINUTEBOOK_SIGN_UP: {
    schema: z.enum(['open', 'closed']).default('closed'),
    means:
      'whether anybody who reaches the interface may make a tenant by `POST /auth/signup`; when closed, only an operator does (1.5)',
  },
  MINUTEBOOK_CONSOLE: {
    schema: z.enum(['off', 'http', 'https']).default('off'),
    means:
      'whether the console is served below `/console`, and over what browsers reach it: with `https` its cookie is sent over TLS only (1.9)',
  },
  MINUTEBOOK_LOG_LEVEL: {
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    means: 'least severe log line that is written',
  },
  MINUTEBOOK_LOG_PARTITIONS: {
    schema: count.max(1024).optional(),
    means: 'partitions of a log that does not exist yet (PostgreSQL: 4, Kafka: 12)',
  },
  MINUTEBOOK_LOG_REPLICAS: {
    schema: count.max(32).optional(),
    means:
      'replicas that the topic in Kafka must have; when absent, one on each of up to three brokers',
  },
  MINUTEBOOK_LOG_RETENTION_HOURS: {
    schema: count.default(72),
    means: 'how long the log in PostgreSQL keeps records that are already counted',
  },
  MINUTEBOOK_PRODUCE_TIMEOUT_MS: {
    schema: count.default(8_000),
    means: 'how long POST /v1/events waits for the log before it answers 503',
  },
  MINUTEBOOK_STALE_KEY_SECONDS: {
    schema: z.coerce.number().int().min(0).max(3_600).default(60),
    means:
      'how long known API keys are accepted as they were last read while PostgreSQL does not answer, when Kafka is the log; 0: not at all',
  },
  MINUTEBOOK_INGEST_RATE: {
    schema: rate.default(20_000),
    means: 'event requests per second and tenant before 429; 0 sets no limit',
  },
  MINUTEBOOK_HEAVY_RATE: {
    schema: rate.default(100),
    means: 'heavy requests per second and tenant before 429; 0 sets no limit',
  },
  MINUTEBOOK_DEFAULT_RATE: {
    schema: rate.default(500),
    means: 'other requests per second and tenant before 429; 0 sets no limit',
  },
  MINUTEBOOK_FAILED_AUTH_RATE: {
    schema: rate.default(10),
    means:
      'requests with missing or wrong credentials per second and client address before 429; 0 sets no limit',
  },
  MINUTEBOOK_PUBLIC_RATE: {
    schema: rate.default(20),
    means:
      'requests for `/metrics`, and for `/openapi.json` and `/docs`, per second and client address before 429; 0 sets no limit',
  },
  MINUTEBOOK_PROXY_COUNT: {
    schema: z.coerce.number().int().min(0).max(10).default(0),
    means:
      'reverse proxies in front; the client address is then taken from `X-Forwarded-For`, to which each of them must add one',
  },
  MINUTEBOOK_FLUSH_DELAY_MS: {
    schema: count.default(200),
    means:
      'the least time from one flush of an aggregator to the next, up to four times as long on a busy machine; a flush writes the batches of all its partitions',
  },
  MINUTEBOOK_BATCH_EVENTS_MAX: {
    schema: count.max(200_000).default(40_000),
    means: 'events that an aggregator holds in batches at once, over all its partitions',
  },
  MINUTEBOOK_FILTER_FALSE_POSITIVE_RATE: {
    schema: z.coerce.number().min(0.0001).max(0.1).default(0.01),
    means:
      'share of new event ids that are looked up needlessly (0.0001 to 0.1); 0.01 takes 2 bytes of memory per id',
  },
  MINUTEBOOK_METER_REVERT_HOURS: {
    schema: count.max(87_600).default(168),
    means:
      'how long the previous version of a changed meter is still counted, so that a change can be reverted at once',
  },
  MINUTEBOOK_EVENT_RETENTION_DAYS: {
    schema: z.coerce.number().int().min(35).max(36_500).optional(),
    means:
      'how many days raw events are kept at least, 35 or more; they are removed by whole months of their append; when absent, they are kept for ever',
  },
  MINUTEBOOK_STOP_DELAY_MS: {
    schema: z.coerce.number().int().min(0).max(600_000).default(5_000),
    means:
      'how long a program goes on serving after SIGTERM while `/readyz` answers 503, so that a load balancer notices before connections close',
  },
  MINUTEBOOK_METRICS_HOST: {
    schema: z.string().min(1).default('127.0.0.1'),
    means: 'address on which a program shows its health and metrics',
  },
  MINUTEBOOK_METRICS_PORT: {
    schema: port.default(9080),
    means: 'port on which a program shows its health and metrics (0: any free port)',
  },
  MINUTEBOOK_URL: {
    schema: z.string().url().optional(),
    means: 'address of the product that these verbs ask, such as `https://billing.example.com`',
  },
  MINUTEBOOK_API_KEY: {
    schema: z.string().min(1).optional(),
    means: 'API key that these verbs use',
  },
} as const;

export type SettingName = keyof typeof SETTINGS;
export type Config<Names extends SettingName> = {
  readonly [Name in Names]: z.output<(typeof SETTINGS)[Name]['schema']>;
};

/** A setting is invalid or missing; the message says which and what to write instead. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`configuration: ${problems.join('; ')}`);
    this.name = 'ConfigError';
  }
}

const PREFIX = 'MINUTEBOOK_';

/**
 * Reads the named settings. An empty text counts as absent.
 * @param defaults of one program, instead of the common ones.
 * @throws ConfigError that lists every invalid value and every unknown key with our prefix.
 */
export function readConfig<Names extends SettingName>(
  names: readonly Names[],
  environment: Readonly<Record<string, string | undefined>>,
  defaults: { readonly [Name in SettingName]?: string } = {},
): Config<Names> {
  const problems = Object.keys(environment)
    .filter((key) => key.startsWith(PREFIX) && !Object.hasOwn(SETTINGS, key))
    .map((key) => `${key} is not a setting (known: ${Object.keys(SETTINGS).join(', ')})`);
  const config: Record<string, unknown> = {};
  for (const name of names) {
    const text = environment[name];
    const given = text === '' ? undefined : text;
    const parsed = SETTINGS[name].schema.safeParse(given ?? defaults[name]);
    if (parsed.success) config[name] = parsed.data;
    else problems.push(`${name}: ${parsed.error.issues[0]?.message ?? 'invalid'}`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return config as Config<Names>;
}

/**
 * A setting that is required by a program that runs by itself; `npm start` provides it.
 * @throws ConfigError when it is absent.
 */
export function required<Name extends SettingName>(
  config: { readonly [Key in Name]?: string | undefined },
  name: Name,
): string {
  const value = config[name];
  if (value === undefined) throw new ConfigError([`${name} is required: ${SETTINGS[name].means}`]);
  return value;
}
