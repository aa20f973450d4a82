import { describe, expect, test } from 'vitest';
import { Deliveries } from './deliveries.js';
import type { DeliveryReport, RdKafkaError, RdKafkaProducer } from './rdkafka.js';

const FATAL: RdKafkaError = { code: -150, message: 'fenced' };
const record = { partition: 0, key: 'k', value: 'v' };

type Listener = (error: RdKafkaError | null, report: DeliveryReport) => void;

/** A producer whose reports the test gives, or never gives. */
class FakeProducer {
  readonly produced: unknown[] = [];
  report: Listener = () => undefined;
  fail: (error: RdKafkaError) => void = () => undefined;
  isFatal = false;
  isDisconnected = false;

  produce(...values: readonly unknown[]): void {
    if (this.isFatal) throw Object.assign(new Error(FATAL.message), FATAL);
    this.produced.push(values[5]);
  }

  acknowledge(): void {
    for (const opaque of this.produced.splice(0)) this.report(null, { opaque });
  }

  poll(): void {
    if (this.isDisconnected) throw new Error('Producer not connected');
  }

  disconnect(_timeoutMs: number, done: () => void): void {
    this.isDisconnected = true;
    setImmediate(done);
  }

  on(event: 'delivery-report' | 'event.error', listener: Listener): void {
    if (event === 'delivery-report') this.report = listener;
    else this.fail = (error) => listener(error, {});
  }
}

function open(produceTimeoutMs: number, connect?: () => Promise<FakeProducer>) {
  const [first, second] = [new FakeProducer(), new FakeProducer()];
  const asProducer = (fake: FakeProducer): RdKafkaProducer => fake as unknown as RdKafkaProducer;
  const deliveries = new Deliveries(asProducer(first), {
    topic: 't',
    produceTimeoutMs,
    connect: async () => asProducer(await (connect?.() ?? Promise.resolve(second))),
  });
  return { deliveries, first, second };
}

describe('deliveries', () => {
  test('fail when their producer fails for good and never reports them, and later ones go on', async () => {
    const { deliveries, first, second } = open(60_000);
    const outstanding = [deliveries.deliver(record), deliveries.deliver(record)];
    first.isFatal = true;
    first.fail(FATAL);
    for (const delivery of outstanding) {
      await expect(delivery).rejects.toMatchObject({ name: 'DependencyError', isRetryable: true });
    }
    const later = deliveries.deliver(record);
    second.acknowledge();
    await later;
    await deliveries.close();
  });

  test('of the new producer survive the end of the old one', async () => {
    const { deliveries, first, second } = open(60_000);
    const lost = deliveries.deliver(record);
    const end = await new Promise<() => void>((resolve) => {
      first.disconnect = (_timeoutMs, done) => {
        resolve(done);
      };
      first.fail(FATAL);
    });
    const kept = deliveries.deliver(record);
    end();
    await expect(lost).rejects.toThrow('failed for good');
    second.acknowledge();
    await kept;
    await deliveries.close();
  });

  test('fail within their time when no other producer can be had', async () => {
    const { deliveries, first } = open(50, () => Promise.reject(new Error('no broker')));
    const outstanding = deliveries.deliver(record);
    first.isFatal = true;
    first.fail(FATAL);
    await expect(outstanding).rejects.toThrow('no delivery report came in time');
    await expect(deliveries.deliver(record)).rejects.toThrow('fenced');
    await deliveries.close();
  });

  test('that are outstanding at the end of the program fail', async () => {
    const { deliveries } = open(60_000);
    const outstanding = deliveries.deliver(record);
    const failed = expect(outstanding).rejects.toThrow('closed');
    await deliveries.close();
    await failed;
  });
});
