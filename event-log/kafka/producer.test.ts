import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DependencyError } from '../../runtime/failure.js';
import type { AppendRequest } from '../interface/event-log.js';
import { Producer, type ProducerOptions } from './producer.js';
import { producerSettings, producerTopicSettings } from './settings.js';
import type { DeliveryReport, RdKafkaError, RdKafkaProducer } from './rdkafka.js';

const errorOf = (code: number, message: string): RdKafkaError =>
  Object.assign(new Error(message), { code });
const FATAL = errorOf(-150, 'fenced');
const TIMEOUT_MS = 1_000;
const TURN_MS = 4;
const record = (value: string, partition = 0): AppendRequest => ({ partition, key: 'k', value });
const anotherTopic = (): DependencyError =>
  new DependencyError('its id changed', { dependency: 'event-log', isRetryable: false });

type Listener = (error: RdKafkaError | null, report: DeliveryReport) => void;

/** The driver's producer, whose reports the test gives, or never gives. */
class FakeDriver {
  produced: { readonly value: string; readonly opaque: unknown }[] = [];
  report: Listener = () => undefined;
  fail: (error: RdKafkaError) => void = () => undefined;
  refusal: RdKafkaError | null = null;
  isDisconnected = false;

  produce(...given: readonly unknown[]): void {
    if (this.refusal instanceof Error) throw this.refusal;
    this.produced.push({ value: String(given[2]), opaque: given[5] });
  }

  /** Acknowledges what was produced, at offsets from this one on. */
  acknowledge(firstOffset: number): void {
    const reported = this.produced;
    this.produced = [];
    for (const [index, { opaque }] of reported.entries()) {
      this.report(null, { opaque, offset: firstOffset + index });
    }
  }

  poll(): void {
    if (this.isDisconnected) throw new Error('Producer not connected');
  }

  disconnect(_timeoutMs: number, done: () => void): void {
    this.isDisconnected = true;
    done();
  }

  on(event: 'delivery-report' | 'event.error', listener: Listener): void {
    if (event === 'delivery-report') this.report = listener;
    else this.fail = (error) => listener(error, {});
  }
}

function open(replaced: Partial<ProducerOptions> = {}) {
  const [driver, successor] = [new FakeDriver(), new FakeDriver()];
  const asProducer = (fake: FakeDriver): RdKafkaProducer => fake as unknown as RdKafkaProducer;
  const checkLog = vi.fn(() => Promise.resolve());
  const producer = new Producer(asProducer(driver), {
    topic: 't',
    produceTimeoutMs: TIMEOUT_MS,
    turnMs: TURN_MS,
    checkLog,
    connect: () => Promise.resolve(asProducer(successor)),
    ...replaced,
  });
  return { producer, driver, successor, checkLog };
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** What has become of the work after some time: `open`, `done`, or its failure. */
async function endOf(work: Promise<void>, ms = 1): Promise<unknown> {
  const settled = work.then(
    () => 'done',
    (error: unknown) => error,
  );
  await pass(ms);
  return Promise.race([settled, Promise.resolve('open')]);
}

beforeEach(() => {
  vi.useFakeTimers({
    toFake: [
      ...(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const),
      ...(['setImmediate', 'clearImmediate', 'performance'] as const),
    ],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a delivery', () => {
  test('resolves when all of its records are acknowledged, and not before', async () => {
    const { producer, driver } = open();
    const delivered = producer.deliver([record('a'), record('b')]);
    expect(driver.produced.map(({ value }) => value)).toEqual(['a', 'b']);
    const [first] = driver.produced;
    driver.report(null, { opaque: first?.opaque, offset: 0 });
    expect(await endOf(delivered)).toBe('open');
    driver.report(null, { opaque: driver.produced[1]?.opaque, offset: 1 });
    expect(await endOf(delivered)).toBe('done');
  });

  test('fails within its time when no report comes', async () => {
    const { producer } = open();
    const delivered = producer.deliver([record('a')]);
    expect(await endOf(delivered, TIMEOUT_MS - 10)).toBe('open');
    expect(await endOf(delivered, 20)).toMatchObject({ isRetryable: true });
  });

  test('fails with the reason of the driver, and at once when its queue is full', async () => {
    const { producer, driver } = open();
    const timedOut = producer.deliver([record('a')]);
    const failed = expect(timedOut).rejects.toThrow('Local: Message timed out');
    driver.report(errorOf(-192, 'Local: Message timed out'), {
      opaque: driver.produced[0]?.opaque,
    });
    await failed;
    driver.refusal = errorOf(-184, 'Local: Queue full');
    await expect(producer.deliver([record('b')])).rejects.toMatchObject({
      name: 'DependencyError',
      isRetryable: true,
      message: expect.stringContaining('Queue full'),
    });
  });

  test('names the limit of the topic when a record is too large, which no retry overcomes', async () => {
    const { producer, driver } = open();
    const delivered = producer.deliver([record('a')]);
    const failed = expect(delivered).rejects.toMatchObject({
      isRetryable: false,
      message: expect.stringContaining('max.message.bytes'),
    });
    driver.report(errorOf(10, 'too large'), { opaque: driver.produced[0]?.opaque });
    await failed;
  });

  test('tells what keeps brokers from being used instead of a time-out', async () => {
    const refused = new DependencyError('KAFKA_SASL_PASSWORD', {
      dependency: 'event-log',
      isRetryable: false,
    });
    const { producer } = open({ checkLog: () => Promise.reject(refused) });
    const failed = expect(producer.deliver([record('a')])).rejects.toThrow('KAFKA_SASL_PASSWORD');
    await pass(TIMEOUT_MS + 10);
    await failed;
  });

  test('that is under way at the end of the program fails, and later ones do', async () => {
    const { producer } = open();
    const delivered = endOf(producer.deliver([record('a')]), 2);
    await producer.close();
    expect(String(await delivered)).toContain('closed');
    await expect(producer.deliver([record('b')])).rejects.toThrow('closed');
  });
});

describe('a topic that was made anew', () => {
  test('acknowledges nothing: its offset does not rise, and what follows is refused', async () => {
    const { producer, driver, checkLog } = open();
    const first = producer.deliver([record('a')]);
    driver.acknowledge(7);
    await first;
    checkLog.mockRejectedValue(anotherTopic());
    const second = expect(producer.deliver([record('b')])).rejects.toThrow('its id changed');
    driver.acknowledge(0);
    await second;
    expect(String(await endOf(producer.deliver([record('c')])))).toContain('its id changed');
    expect(driver.produced).toEqual([]);
  });

  test('is noticed within a minute when nobody had written to its partition', async () => {
    const { producer, driver, checkLog } = open();
    checkLog.mockRejectedValue(anotherTopic());
    await pass(60_010);
    const first = producer.deliver([record('a')]);
    driver.acknowledge(0);
    await first;
    expect(String(await endOf(producer.deliver([record('b')])))).toContain('its id changed');
  });

  test('is no reason to refuse once the brokers say that it is the log', async () => {
    const { producer, driver } = open();
    const first = producer.deliver([record('a')]);
    driver.acknowledge(7);
    await first;
    const doubted = expect(producer.deliver([record('b')])).rejects.toMatchObject({
      isRetryable: true,
      message: expect.stringContaining('an offset that it had before'),
    });
    driver.acknowledge(7);
    await doubted;
    const next = producer.deliver([record('c')]);
    await pass(1);
    driver.acknowledge(8);
    await next;
  });

  test('a report without an offset is not believed', async () => {
    const { producer, driver } = open();
    const failed = expect(producer.deliver([record('a')])).rejects.toMatchObject({
      isRetryable: true,
    });
    driver.report(null, { opaque: driver.produced[0]?.opaque, offset: -1_001 });
    await failed;
  });
});

describe('a producer that fails for good', () => {
  test('is replaced: what it held fails, and later deliveries go on', async () => {
    const { producer, driver, successor } = open();
    const held = [producer.deliver([record('a')]), producer.deliver([record('b', 1)])];
    driver.fail(FATAL);
    const ends = await Promise.all(held.map((delivered) => endOf(delivered)));
    for (const end of ends) expect(String(end)).toContain('failed for good');
    const later = producer.deliver([record('c')]);
    expect(successor.produced.map(({ value }) => value)).toEqual(['c']);
    successor.acknowledge(0);
    await later;
  });

  test('is replaced when it refuses a record, too', async () => {
    const { producer, driver, successor } = open();
    driver.refusal = FATAL;
    await expect(producer.deliver([record('a')])).rejects.toThrow('fenced');
    const later = producer.deliver([record('b')]);
    successor.acknowledge(0);
    await later;
  });

  test('leaves deliveries their time when no other can be had', async () => {
    const { producer, driver } = open({ connect: () => Promise.reject(new Error('no broker')) });
    const delivered = producer.deliver([record('a')]);
    const failed = expect(delivered).rejects.toThrow('no acknowledgement came in time');
    driver.fail(FATAL);
    await pass(TIMEOUT_MS + 10);
    await failed;
  });
});

describe('the settings of the driver', () => {
  test('acknowledge what all replicas in sync have, once and in order, within the time of an append', () => {
    const access = { brokers: 'b:9092', security: {} };
    expect(producerSettings(access, 10_000)).toMatchObject({
      'enable.idempotence': true,
      dr_cb: true,
      'linger.ms': 0,
      'socket.timeout.ms': 3_500,
    });
    expect(producerTopicSettings(10_000)).toEqual({
      acks: 'all',
      'request.timeout.ms': 2_500,
      'message.timeout.ms': 8_500,
    });
    expect(producerTopicSettings(1_000)).toMatchObject({ 'message.timeout.ms': 1_000 });
  });
});

describe('a turn', () => {
  test('comes some milliseconds after it was first asked for', async () => {
    const { producer } = open();
    const turn = producer.turn();
    expect(await endOf(turn, TURN_MS - 1)).toBe('open');
    expect(await endOf(turn, 1)).toBe('done');
  });

  test('is the same for all partitions that come meanwhile', async () => {
    const { producer } = open();
    const turns = [producer.turn(), producer.turn()];
    expect(turns[0]).toBe(turns[1]);
    await pass(TURN_MS);
    await turns[0];
    expect(producer.turn()).not.toBe(turns[0]);
  });
});
