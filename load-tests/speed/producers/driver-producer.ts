import type { AppendRequest } from '../../../event-log/event-log.js';
import { loadRdKafka } from '../../../event-log/kafka/rdkafka.js';

/** Delivery reports come by polling. */
const POLL_MS = 2;
const CONNECT_TIMEOUT_MS = 10_000;
const DELIVERY_TIMEOUT_MS = 8_000;

type Settle = (error: unknown) => void;
/** What the product does not use of the driver. */
type Reporting = {
  poll(): void;
  on(
    event: 'delivery-report',
    listener: (error: unknown, report: { readonly opaque?: Settle }) => void,
  ): void;
};

export type DriverProducerOptions = {
  readonly brokers: string;
  readonly topic: string;
  /** How long the driver waits for more records of a partition. */
  readonly lingerMs: number;
  /** How long records wait for others before they are merged and given to the driver. */
  readonly turnMs: number;
};

/**
 * A producer over node-rdkafka with the guarantees that the log needs (all replicas, idempotent,
 * bounded, a report for every record), to be measured beside the one of the product.
 */
export async function openDriverProducer(options: DriverProducerOptions) {
  const { Producer } = await loadRdKafka();
  const producer = new Producer(
    {
      'metadata.broker.list': options.brokers,
      'client.id': 'minutebook-measure',
      'enable.idempotence': true,
      'queue.buffering.max.kbytes': 64 * 1024,
      'queue.buffering.max.messages': 100_000,
      'linger.ms': options.lingerMs,
      'compression.codec': 'lz4',
      dr_cb: true,
    },
    { acks: 'all', 'message.timeout.ms': DELIVERY_TIMEOUT_MS },
  );
  await new Promise<void>((resolve, reject) => {
    producer.connect({ timeout: CONNECT_TIMEOUT_MS }, (error) => {
      if (error) reject(new Error(error.message));
      else resolve();
    });
  });
  const reporting = producer as typeof producer & Reporting;
  reporting.on('delivery-report', (error, { opaque }) => opaque?.(error));
  const polling = setInterval(() => reporting.poll(), POLL_MS);
  let turn: Promise<void> | null = null;

  const deliverOne = ({ partition, key, value }: AppendRequest): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle: Settle = (error) => {
        if (error === null || error === undefined) resolve();
        else reject(error instanceof Error ? error : new Error('it was not delivered'));
      };
      const [bytes, keyBytes] = [Buffer.from(value), Buffer.from(key)];
      producer.produce(options.topic, partition, bytes, keyBytes, null, settle);
    });

  const nextTurn = (): Promise<void> => {
    if (options.turnMs === 0) return new Promise((resolve) => setImmediate(resolve));
    turn ??= new Promise((resolve) => {
      setTimeout(() => {
        turn = null;
        resolve();
      }, options.turnMs);
    });
    return turn;
  };

  return {
    turn: nextTurn,
    deliver: async (records: readonly AppendRequest[]): Promise<void> => {
      await Promise.all(records.map(deliverOne));
    },
    ping: () => Promise.resolve(),
    close: (): Promise<void> => {
      clearInterval(polling);
      return new Promise((resolve) => {
        producer.disconnect(CONNECT_TIMEOUT_MS, resolve);
      });
    },
  };
}
