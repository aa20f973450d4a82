import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, describe, expect, test } from 'vitest';
import { CertificateMaker } from '../../load-tests/harness/certificates.js';
import { readConfig } from '../../runtime/config.js';
import {
  clientSecurity,
  driverSecurity,
  KAFKA_SETTINGS,
  readKafkaSecurity,
  type KafkaSecurity,
} from './security.js';

const directory = mkdtempSync(join(tmpdir(), 'minutebook-certificates-'));
const maker = new CertificateMaker(directory);
const authority = maker.authority('authority');
const ours = maker.signed('ours', authority, 'opens-it');
const garbage = join(directory, 'garbage.pem');
writeFileSync(garbage, 'no certificate, but top-secret');

afterAll(() => {
  rmSync(directory, { recursive: true });
});

type Given = Readonly<Record<string, string>>;

function read(given: Given): KafkaSecurity {
  return readKafkaSecurity(readConfig(KAFKA_SETTINGS, { KAFKA_BROKERS: 'kafka:9093', ...given }));
}

function problemOf(given: Given): string {
  try {
    read(given);
    return '';
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : 'no error';
  }
}

const LOGIN = { KAFKA_SASL_USERNAME: 'meter', KAFKA_SASL_PASSWORD: 'top-secret' };
const SCRAM = {
  KAFKA_SECURITY_PROTOCOL: 'sasl_ssl',
  KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
  ...LOGIN,
};
const OURS = {
  KAFKA_SSL_CERTIFICATE_FILE: ours.certificate,
  KAFKA_SSL_KEY_FILE: ours.key,
  KAFKA_SSL_KEY_PASSWORD: 'opens-it',
};
const SSL = { KAFKA_SECURITY_PROTOCOL: 'ssl' };

describe('settings of Kafka that do not fit together are refused, naming the setting', () => {
  test.each<[string, Given, string]>([
    ['an unknown protocol', { KAFKA_SECURITY_PROTOCOL: 'tls' }, 'KAFKA_SECURITY_PROTOCOL: '],
    ['an unknown mechanism', { ...SCRAM, KAFKA_SASL_MECHANISM: 'GSSAPI' }, 'KAFKA_SASL_MECHANISM'],
    [
      'a login without its protocol',
      { ...SSL, KAFKA_SASL_USERNAME: 'meter' },
      'KAFKA_SASL_USERNAME is not used with KAFKA_SECURITY_PROTOCOL=ssl: set the protocol to sasl_ssl, or remove KAFKA_SASL_USERNAME',
    ],
    [
      'a certificate without TLS',
      { KAFKA_SSL_CA_FILE: authority.certificate },
      'KAFKA_SSL_CA_FILE is not used with KAFKA_SECURITY_PROTOCOL=plaintext: set the protocol to ssl or sasl_ssl',
    ],
    [
      'a login without mechanism and password',
      { KAFKA_SECURITY_PROTOCOL: 'sasl_plaintext', KAFKA_SASL_USERNAME: 'meter' },
      'KAFKA_SASL_MECHANISM is required with KAFKA_SECURITY_PROTOCOL=sasl_plaintext; KAFKA_SASL_PASSWORD is required',
    ],
    [
      'a certificate without its key',
      { ...SSL, KAFKA_SSL_CERTIFICATE_FILE: ours.certificate },
      'KAFKA_SSL_CERTIFICATE_FILE is set without KAFKA_SSL_KEY_FILE: set both',
    ],
    [
      'a key without its certificate',
      { ...SSL, KAFKA_SSL_KEY_FILE: ours.key },
      'KAFKA_SSL_KEY_FILE is set without KAFKA_SSL_CERTIFICATE_FILE: set both',
    ],
    [
      'TLS without brokers',
      { ...SSL, KAFKA_BROKERS: '', KAFKA_SSL_CA_FILE: authority.certificate },
      'KAFKA_SECURITY_PROTOCOL is set without KAFKA_BROKERS: set both, or remove it; KAFKA_SSL_CA_FILE is set',
    ],
    [
      'a topic without brokers',
      { KAFKA_BROKERS: '', KAFKA_TOPIC: 'staging.events' },
      'KAFKA_TOPIC is set without KAFKA_BROKERS: set both, or remove it',
    ],
    ['a topic that Kafka would refuse', { KAFKA_TOPIC: 'two words' }, 'KAFKA_TOPIC: must be'],
    [
      'a file that is missing',
      { ...SSL, KAFKA_SSL_CA_FILE: '/none.pem' },
      'KAFKA_SSL_CA_FILE: the file /none.pem cannot be read (ENOENT)',
    ],
    [
      'a file without a certificate',
      { ...SSL, KAFKA_SSL_CA_FILE: garbage },
      'garbage.pem must hold a certificate in PEM',
    ],
    [
      'a key that the password does not open',
      { ...SSL, ...OURS, KAFKA_SSL_KEY_PASSWORD: 'top-secret' },
      'must hold a private key in PEM that KAFKA_SSL_KEY_PASSWORD opens',
    ],
    [
      'a key of another certificate',
      { ...SSL, ...OURS, KAFKA_SSL_KEY_FILE: authority.key },
      `the key in ${authority.key} is not the one of the certificate in ${ours.certificate}`,
    ],
  ])('%s', (_name, given, text) => {
    const problem = problemOf(given);
    expect(problem).toMatch(/^ConfigError: configuration: /);
    expect(problem).toContain(text);
    expect(problem).not.toContain('top-secret');
  });
});

describe('both clients are given TLS and login', () => {
  const features = ['ssl', 'sasl_scram'];

  test('nothing but a plain connection without settings', () => {
    expect(driverSecurity(read({}), [])).toEqual({ 'security.protocol': 'plaintext' });
    expect(clientSecurity(read({}), 'kafka')).toEqual({});
  });

  test('a certificate of our own, and the name of the broker unless it is an address', () => {
    const security = read({ ...SSL, ...OURS, KAFKA_SSL_CA_FILE: authority.certificate });
    expect(driverSecurity(security, features)).toEqual({
      'security.protocol': 'ssl',
      'ssl.ca.pem': expect.stringContaining('BEGIN CERTIFICATE'),
      'ssl.certificate.pem': expect.stringContaining('BEGIN CERTIFICATE'),
      'ssl.key.pem': expect.stringContaining('BEGIN ENCRYPTED PRIVATE KEY'),
      'ssl.key.password': 'opens-it',
    });
    expect(clientSecurity(security, 'kafka')).toEqual({ tls: security.tls, tlsServerName: true });
    expect(clientSecurity(security, '10.0.0.1')).toMatchObject({ tlsServerName: false });
  });

  test('a login, and the public authorities that Node trusts', () => {
    const security = read(SCRAM);
    expect(driverSecurity(security, features)).toEqual({
      'security.protocol': 'sasl_ssl',
      'ssl.ca.pem': rootCertificates.join('\n'),
      'sasl.mechanisms': 'SCRAM-SHA-512',
      'sasl.username': 'meter',
      'sasl.password': 'top-secret',
    });
    const sasl = { mechanism: 'SCRAM-SHA-512', username: 'meter', password: 'top-secret' };
    expect(clientSecurity(security, 'kafka')).toMatchObject({ sasl });
  });

  test('a driver that was compiled without OpenSSL is refused with what to do', () => {
    expect(() => driverSecurity(read(SSL), ['sasl_scram'])).toThrow(
      'KAFKA_SECURITY_PROTOCOL: node-rdkafka was compiled without OpenSSL (it lacks ssl): install the headers of OpenSSL (Debian: libssl-dev) and run "npm rebuild node-rdkafka --ignore-scripts=false"',
    );
    const plain = { ...SCRAM, KAFKA_SECURITY_PROTOCOL: 'sasl_plaintext' };
    expect(() => driverSecurity(read(plain), ['ssl'])).toThrow('KAFKA_SASL_MECHANISM: ');
  });
});
