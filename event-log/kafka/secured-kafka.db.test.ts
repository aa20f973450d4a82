import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startLocalKafka, type LocalKafka } from '../../cli/kafka/local-kafka.js';
import { CertificateMaker } from '../../load-tests/harness/certificates.js';
import { offerKafka } from '../../load-tests/harness/kafka.js';
import { makeTestDirectory } from '../../load-tests/harness/test-directory.js';
import { readConfig } from '../../runtime/config.js';
import { drawFreePort } from '../../runtime/port.js';
import { readAll, text, valuesOf } from '../testing/event-log.contract.js';
import { openKafkaReader } from './reader.js';
import { KAFKA_SETTINGS, readKafkaSecurity } from './security.js';
import { openKafkaWriter } from './writer.js';

const directory = await makeTestDirectory();
const maker = new CertificateMaker(directory.path);
const authority = maker.authority('authority');
const stranger = maker.authority('stranger');
const ours = maker.signed('ours', authority, 'opens-it');
/** The authority is the last of several. */
const trusted = join(directory.path, 'trusted.pem');
writeFileSync(
  trusted,
  [stranger, authority].map(({ certificate }) => readFileSync(certificate, 'utf8')).join(''),
);
const port = await drawFreePort();

function startSecured(): Promise<LocalKafka> {
  const server = maker.signed('server', authority);
  const store = join(directory.path, 'server-store.pem');
  writeFileSync(store, readFileSync(server.key, 'utf8') + readFileSync(server.certificate, 'utf8'));
  const modules = 'org.apache.kafka.common.security';
  const settings = {
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': store,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': authority.certificate,
    'ssl.client.auth': 'required',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256',
    'plain.sasl.jaas.config': `${modules}.plain.PlainLoginModule required user_meter="plain-secret";`,
    'scram-sha-256.sasl.jaas.config': `${modules}.scram.ScramLoginModule required;`,
  };
  const scramUsers = ['SCRAM-SHA-256=[name=meter,password=scram-secret]'];
  return startLocalKafka({
    directory: join(directory.path, 'kafka'),
    port: 0,
    secured: { port, protocol: 'SASL_SSL', settings, scramUsers },
  });
}

const { kafka, skipReason } = await offerKafka(startSecured);
const title = kafka === null ? `secured Kafka (skipped: ${skipReason})` : 'secured Kafka';

afterAll(async () => {
  await kafka?.stop();
  await directory.remove();
});

const SETTINGS = {
  KAFKA_BROKERS: `127.0.0.1:${port}`,
  KAFKA_SECURITY_PROTOCOL: 'sasl_ssl',
  KAFKA_SASL_MECHANISM: 'SCRAM-SHA-256',
  KAFKA_SASL_USERNAME: 'meter',
  KAFKA_SASL_PASSWORD: 'scram-secret',
  KAFKA_SSL_CA_FILE: trusted,
  KAFKA_SSL_CERTIFICATE_FILE: ours.certificate,
  KAFKA_SSL_KEY_FILE: ours.key,
  KAFKA_SSL_KEY_PASSWORD: 'opens-it',
};
const PLAIN = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_PASSWORD: 'plain-secret' };

function accessBy(changed: Readonly<Record<string, string>>) {
  const config = readConfig(KAFKA_SETTINGS, { ...SETTINGS, ...changed });
  return {
    brokers: SETTINGS.KAFKA_BROKERS,
    security: readKafkaSecurity(config),
    topic: `test-${randomBytes(6).toString('hex')}`,
    partitionCount: 2,
  };
}

describe.skipIf(kafka === null)(title, () => {
  test.each([
    ['SCRAM', {}],
    ['PLAIN', PLAIN],
  ])('keeps and gives back records over TLS with a login by %s', async (_name, changed) => {
    const at = accessBy(changed);
    const writer = await openKafkaWriter({ ...at, produceTimeoutMs: 8_000 });
    await writer.append([text('over TLS')]);
    const reader = await openKafkaReader(at);
    expect(valuesOf(await readAll(reader, { count: 1 }))).toEqual(['over TLS']);
    await reader.commit(0, 1);
    await Promise.all([writer.close(), reader.close()]);
  });

  test.each([
    [
      'a wrong password (SCRAM)',
      { KAFKA_SASL_PASSWORD: 'wrong' },
      'the broker refuses KAFKA_SASL_USERNAME with KAFKA_SASL_PASSWORD',
    ],
    [
      'a wrong password (PLAIN)',
      { ...PLAIN, KAFKA_SASL_PASSWORD: 'wrong' },
      'the broker refuses KAFKA_SASL_USERNAME with KAFKA_SASL_PASSWORD',
    ],
    [
      'a mechanism that the broker does not offer',
      { KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512' },
      'the broker does not offer the mechanism of KAFKA_SASL_MECHANISM',
    ],
    [
      'an authority that did not sign the certificate of the broker',
      { KAFKA_SSL_CA_FILE: stranger.certificate },
      'the certificate of the broker is not accepted',
    ],
    [
      'public authorities only',
      { KAFKA_SSL_CA_FILE: '' },
      'be signed by an authority in KAFKA_SSL_CA_FILE',
    ],
    [
      'no certificate for a broker that asks for one',
      { KAFKA_SSL_CERTIFICATE_FILE: '', KAFKA_SSL_KEY_FILE: '', KAFKA_SSL_KEY_PASSWORD: '' },
      'KAFKA_SSL_CERTIFICATE_FILE',
    ],
  ])('refuses %s at once, for good, and naming the setting', async (_name, changed, reason) => {
    const startedAt = performance.now();
    const opening = openKafkaReader(accessBy(changed));
    await expect(opening).rejects.toMatchObject({
      name: 'DependencyError',
      isRetryable: false,
      message: expect.stringContaining(reason),
    });
    await expect(opening).rejects.not.toThrow(/secret|wrong|opens-it/);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test('refuses a plain connection to a listener with TLS within its time', async () => {
    const { brokers, topic } = accessBy({});
    await expect(openKafkaReader({ brokers, topic })).rejects.toMatchObject({
      name: 'DependencyError',
      isRetryable: true,
    });
  });
});
