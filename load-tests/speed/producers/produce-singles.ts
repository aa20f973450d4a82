import { mergeRecords } from '../../../contract/records/record-parts.js';
import { recordsOfEvents } from '../../../contract/records-of-events.js';
import type { AppendRequest, EventLogWriter } from '../../../event-log/event-log.js';
import { loadRdKafka } from '../../../event-log/kafka/rdkafka.js';
import { openKafkaTopic } from '../../../event-log/kafka/topic.js';
import { KafkaLogWriter, openKafkaWriter } from '../../../event-log/kafka/writer.js';
import { assertPresent } from '../../../runtime/failure.js';
import { openDriverProducer } from './driver-producer.js';
import { WAYS, type Produced, type Stretch, type Way } from './ways.js';

// A process that appends single events in the way that its arguments name, and tells their cost.

const PRODUCE_TIMEOUT_MS = 10_000;
const TICK_MS = 1;
const TIMESTAMP_MS = Date.UTC(2026, 10, 27);
const environment = { tenantId: 'tenant_1', environmentId: 'env_1' };

async function openWriter(way: Way, brokers: string, topic: string): Promise<EventLogWriter> {
  const settings = WAYS[way];
  const security = { tls: null, sasl: null };
  const place = { brokers, topic, security, replicas: 3, produceTimeoutMs: PRODUCE_TIMEOUT_MS };
  if (settings === null) return openKafkaWriter({ ...place, mergeValues: mergeRecords });
  const identity = await openKafkaTopic(await loadRdKafka(), place);
  const producer = await openDriverProducer({ ...place, ...settings });
  if (settings.isMerged) {
    return new KafkaLogWriter(identity, producer, { ...place, mergeValues: mergeRecords });
  }
  return {
    identity,
    append: (records: readonly AppendRequest[]) => producer.deliver(records),
    ping: producer.ping,
    close: producer.close,
  };
}

let made = 0;

/** As ingest makes it of a single event. */
function single(partitionCount: number): readonly AppendRequest[] {
  made += 1;
  const event = {
    eventId: `${process.pid}-${made}`,
    eventName: 'api.request',
    externalCustomerId: `customer-${made % 1_000}`,
    customerId: null,
    source: 'gateway',
    timestampMs: TIMESTAMP_MS,
    isTimestampGiven: true,
    properties: { bytes: String(made), region: 'eu-west-1', path: '/v1/items' },
  };
  const receivedAtMs = Date.now();
  return recordsOfEvents([event], { environment, receivedAtMs, partitionCount });
}

async function produce(writer: EventLogWriter, { perSecond, seconds }: Stretch): Promise<Produced> {
  const { partitionCount } = writer.identity;
  const tookMs: number[] = [];
  const open: Promise<void>[] = [];
  let failed = 0;
  const append = async (): Promise<void> => {
    const startedAt = performance.now();
    try {
      await writer.append(single(partitionCount));
      tookMs.push(performance.now() - startedAt);
    } catch {
      failed += 1;
    }
  };
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const planned = perSecond * seconds;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(planned, ((performance.now() - startedAt) * perSecond) / 1_000);
      while (open.length < due) open.push(append());
      if (open.length < planned) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  await Promise.all(open);
  const used = process.cpuUsage(before);
  tookMs.sort((left, right) => left - right);
  const at = (share: number): number => tookMs[Math.floor(tookMs.length * share)] ?? Number.NaN;
  const cpuSeconds = (used.user + used.system) / 1_000_000;
  return { appended: tookMs.length, failed, cpuSeconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** The product's own when no name is given, which is how it is measured beside other builds. */
function wayOf(name = 'product, one request a broker'): Way {
  const found = Object.keys(WAYS).find((way): way is Way => way === name);
  return assertPresent(found, `a way named ${name}`);
}

const [brokers = '', topic = '', name] = process.argv.slice(2);
const writer = await openWriter(wayOf(name), brokers, topic);
process.on('message', (stretch: Stretch) => {
  void produce(writer, stretch).then((produced) => process.send?.(produced));
});
process.on('disconnect', () => {
  void writer.close().then(() => process.exit(0));
});
process.send?.('ready');
