import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import { ConfigError, type Config } from '../../runtime/config.js';
import { codeOf } from '../../runtime/failure.js';
import { BUILD } from './rdkafka.js';

const SASL_SETTINGS = [
  'KAFKA_SASL_MECHANISM',
  'KAFKA_SASL_USERNAME',
  'KAFKA_SASL_PASSWORD',
] as const;
const SSL_SETTINGS = [
  'KAFKA_SSL_CA_FILE',
  'KAFKA_SSL_CERTIFICATE_FILE',
  'KAFKA_SSL_KEY_FILE',
  'KAFKA_SSL_KEY_PASSWORD',
] as const;

/** The settings by which Kafka is reached. */
export const KAFKA_SETTINGS = [
  'KAFKA_BROKERS',
  'KAFKA_TOPIC',
  'KAFKA_SECURITY_PROTOCOL',
  ...SASL_SETTINGS,
  ...SSL_SETTINGS,
] as const;

export type KafkaConfig = Config<(typeof KAFKA_SETTINGS)[number]>;

/** TLS and login of the connections to the brokers. Never to be logged: it holds secrets. */
export type KafkaSecurity = {
  /** Texts in PEM. Without `ca` the well-known public authorities are trusted. */
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly passphrase?: string;
  } | null;
  readonly sasl: {
    readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
    readonly username: string;
    readonly password: string;
  } | null;
};

const PLAIN: KafkaSecurity = { tls: null, sasl: null };

/** Settings that the protocol does not use: whoever gave them meant another protocol. */
function unusedSettings(config: KafkaConfig): readonly string[] {
  const protocol = config.KAFKA_SECURITY_PROTOCOL;
  const given = (names: readonly (keyof KafkaConfig)[]): readonly string[] =>
    names.filter((name) => config[name] !== undefined);
  if (config.KAFKA_BROKERS === undefined) {
    const useless = [
      ...(protocol === 'plaintext' ? [] : ['KAFKA_SECURITY_PROTOCOL']),
      ...given(['KAFKA_TOPIC', ...SASL_SETTINGS, ...SSL_SETTINGS]),
    ];
    return useless.map((name) => `${name} is set without KAFKA_BROKERS: set both, or remove it`);
  }
  const problem = (name: string, fitting: string): string =>
    `${name} is not used with KAFKA_SECURITY_PROTOCOL=${protocol}: set the protocol to ${fitting}, or remove ${name}`;
  const usesSasl = protocol.startsWith('sasl');
  const usesTls = protocol.endsWith('ssl');
  return [
    ...(usesSasl ? [] : given(SASL_SETTINGS)).map((name) =>
      problem(name, usesTls ? 'sasl_ssl' : 'sasl_ssl or sasl_plaintext'),
    ),
    ...(usesTls ? [] : given(SSL_SETTINGS)).map((name) =>
      problem(name, usesSasl ? 'sasl_ssl' : 'ssl or sasl_ssl'),
    ),
  ];
}

function missingSettings(config: KafkaConfig): readonly string[] {
  const { KAFKA_SECURITY_PROTOCOL: protocol } = config;
  const problems: string[] = [];
  if (protocol.startsWith('sasl')) {
    const missing = SASL_SETTINGS.filter((name) => config[name] === undefined);
    const reason = `is required with KAFKA_SECURITY_PROTOCOL=${protocol}`;
    problems.push(...missing.map((name) => `${name} ${reason}`));
  }
  const { KAFKA_SSL_CERTIFICATE_FILE: certificate, KAFKA_SSL_KEY_FILE: key } = config;
  if (certificate !== undefined && key === undefined) {
    problems.push('KAFKA_SSL_CERTIFICATE_FILE is set without KAFKA_SSL_KEY_FILE: set both');
  }
  if (key !== undefined && certificate === undefined) {
    problems.push('KAFKA_SSL_KEY_FILE is set without KAFKA_SSL_CERTIFICATE_FILE: set both');
  }
  if (config.KAFKA_SSL_KEY_PASSWORD !== undefined && key === undefined) {
    problems.push('KAFKA_SSL_KEY_PASSWORD is set without KAFKA_SSL_KEY_FILE: set both');
  }
  return problems;
}

/** The text of a file that a setting names. @throws ConfigError when it cannot be used. */
function readPem<T>(
  name: (typeof SSL_SETTINGS)[number],
  path: string,
  parse: (text: string) => T,
): { readonly text: string; readonly parsed: T } {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([`${name}: the file ${path} cannot be read (${String(codeOf(error))})`]);
  }
  try {
    return { text, parsed: parse(text) };
  } catch {
    // The reason of the library could quote the file, which may be a key.
    const what =
      name === 'KAFKA_SSL_KEY_FILE'
        ? 'a private key in PEM that KAFKA_SSL_KEY_PASSWORD opens, or that has no password'
        : 'a certificate in PEM';
    throw new ConfigError([`${name}: the file ${path} must hold ${what}`]);
  }
}

function readTls(config: KafkaConfig): NonNullable<KafkaSecurity['tls']> {
  const certificateOf = (text: string): X509Certificate => new X509Certificate(text);
  const { KAFKA_SSL_CA_FILE: caPath, KAFKA_SSL_CERTIFICATE_FILE: certPath } = config;
  const { KAFKA_SSL_KEY_FILE: keyPath, KAFKA_SSL_KEY_PASSWORD: passphrase } = config;
  const trusted =
    caPath === undefined ? {} : { ca: readPem('KAFKA_SSL_CA_FILE', caPath, certificateOf).text };
  if (certPath === undefined || keyPath === undefined) return trusted;
  const certificate = readPem('KAFKA_SSL_CERTIFICATE_FILE', certPath, certificateOf);
  const secret = passphrase === undefined ? {} : { passphrase };
  const key = readPem('KAFKA_SSL_KEY_FILE', keyPath, (text) =>
    createPrivateKey({ key: text, ...secret }),
  );
  if (!certificate.parsed.checkPrivateKey(key.parsed)) {
    throw new ConfigError([
      `KAFKA_SSL_KEY_FILE: the key in ${keyPath} is not the one of the certificate in ${certPath}`,
    ]);
  }
  return { ...trusted, cert: certificate.text, key: key.text, ...secret };
}

/**
 * Reads TLS and login from the settings and the files that they name.
 * @throws ConfigError when settings are missing, are not used, or name a file that cannot be used.
 */
export function readKafkaSecurity(config: KafkaConfig): KafkaSecurity {
  const problems = [...unusedSettings(config), ...missingSettings(config)];
  if (problems.length > 0) throw new ConfigError(problems);
  const protocol = config.KAFKA_SECURITY_PROTOCOL;
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username } = config;
  const { KAFKA_SASL_PASSWORD: password } = config;
  const login =
    mechanism === undefined || username === undefined || password === undefined
      ? null
      : { mechanism, username, password };
  return { tls: protocol.endsWith('ssl') ? readTls(config) : null, sasl: login };
}

/** @throws ConfigError when the driver was compiled without what the settings need. */
function refuseWithoutOpenssl({ tls, sasl }: KafkaSecurity, features: readonly string[]): void {
  const isScram = sasl !== null && sasl.mechanism !== 'PLAIN';
  const needed = [...(tls === null ? [] : ['ssl']), ...(isScram ? ['sasl_scram'] : [])];
  const lacking = needed.filter((feature) => !features.includes(feature));
  if (lacking.length === 0) return;
  const setting = lacking.includes('ssl') ? 'KAFKA_SECURITY_PROTOCOL' : 'KAFKA_SASL_MECHANISM';
  throw new ConfigError([
    `${setting}: node-rdkafka was compiled without OpenSSL (it lacks ${lacking.join(' and ')}): install the headers of OpenSSL (Debian: libssl-dev) and run "${BUILD}"`,
  ]);
}

function driverTls(tls: NonNullable<KafkaSecurity['tls']>): Record<string, string | undefined> {
  return {
    // The driver would look for public authorities in places that differ by machine.
    'ssl.ca.pem': tls.ca ?? rootCertificates.join('\n'),
    'ssl.certificate.pem': tls.cert,
    'ssl.key.pem': tls.key,
    'ssl.key.password': tls.passphrase,
  };
}

/** The settings of the driver. @throws ConfigError when it was compiled without what they need. */
export function driverSecurity(
  security: KafkaSecurity = PLAIN,
  features: readonly string[],
): Readonly<Record<string, string>> {
  const { tls, sasl } = security;
  refuseWithoutOpenssl(security, features);
  const given: Record<string, string | undefined> = {
    'security.protocol': `${sasl === null ? '' : 'sasl_'}${tls === null ? 'plaintext' : 'ssl'}`,
    ...(tls === null ? {} : driverTls(tls)),
    'sasl.mechanisms': sasl?.mechanism,
    'sasl.username': sasl?.username,
    'sasl.password': sasl?.password,
  };
  const present = Object.entries(given).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined;
  });
  return Object.fromEntries(present);
}

/** The options of the administration client for a broker of that name. */
export function clientSecurity(security: KafkaSecurity = PLAIN, host: string) {
  const { tls, sasl } = security;
  return {
    // Brokers behind one address are told apart by the name; an IP address is no name.
    ...(tls === null ? {} : { tls, tlsServerName: isIP(host) === 0 }),
    ...(sasl === null ? {} : { sasl }),
  };
}
