import { mergeRecords } from '../../../contract/records/record-parts.js';
import { recordsOfEvents } from '../../../contract/records-of-events.js';
import type { AppendRequest, EventLogWriter } from '../../../event-log/event-log.js';
import { openKafkaWriter } from '../../../event-log/kafka/writer.js';
import type { Produced, Stretch } from './stretch.js';

// A process that appends single events as ingest does, and tells what they cost it.

const PRODUCE_TIMEOUT_MS = 10_000;
const TICK_MS = 1;
const TIMESTAMP_MS = Date.UTC(2026, 10, 27);
const environment = { tenantId: 'tenant_1', environmentId: 'env_1' };

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

const [brokers = '', topic = ''] = process.argv.slice(2);
const writer = await openKafkaWriter({
  ...{ brokers, topic, replicas: 3, produceTimeoutMs: PRODUCE_TIMEOUT_MS },
  mergeValues: mergeRecords,
});
process.on('message', (stretch: Stretch) => {
  void produce(writer, stretch).then((produced) => process.send?.(produced));
});
process.on('disconnect', () => {
  void writer.close().then(() => process.exit(0));
});
process.send?.('ready');
