import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { encodeBatch } from '../../../aggregator/fold/encode-rows.js';
import { foldBatch } from '../../../aggregator/fold/fold-batch.js';
import { tableLines } from '../../../cli/demo/tables.js';
import { createClickHouse } from '../../../clickhouse/client.js';
import { migrateClickHouse } from '../../../clickhouse/migrate.js';
import { withAggregatorWorld } from '../../harness/aggregator-world.js';
import {
  factsOf,
  fillStore,
  LOG_ID,
  monthMs,
  OwnedStore,
  someStoredIds,
  type PreparedBatch,
  type StoredIds,
} from '../id-store.js';
import { writeResults } from './write-results.js';

/**
 * What a batch (look-up of its ids and inserts) and a take cost with many stored ids of many
 * months, beside an empty store of the same server, in turns. `npm run measure -- stored-ids
 * [--ids 100000000 --months 12 --partitions 12 --rounds 60 --events 3300 --repeats 0.02
 * --rates 0.01,0.001]`. Ids and months are those of one partition among `--partitions`.
 */
const { values } = parseArgs({
  options: {
    ids: { type: 'string', default: '100000000' },
    months: { type: 'string', default: '12' },
    partitions: { type: 'string', default: '12' },
    rounds: { type: 'string', default: '60' },
    events: { type: 'string', default: '3300' },
    repeats: { type: 'string', default: '0.02' },
    rates: { type: 'string', default: '0.01,0.001' },
  },
});
const plan: StoredIds = {
  ids: Number(values.ids),
  months: Number(values.months),
  partitions: Number(values.partitions),
  startMs: Date.UTC(2025, 11),
};
const rounds = Number(values.rounds);
const eventsOfBatch = Number(values.events);
/** In the last month, after all that is stored. */
const appendedAtMs = monthMs(plan, plan.months - 1) + 28 * 86_400_000;

/** A batch of one event a record, with ids of its own; the repeated ids are looked up with them. */
function prepare(start: number, repeated: readonly string[]): PreparedBatch {
  const records = Array.from({ length: eventsOfBatch - repeated.length }, (_, index) => {
    const offset = start + index;
    const idHash = randomBytes(16).toString('hex');
    const event = {
      ...{ eventId: idHash, eventName: 'name-0', externalCustomerId: `customer-${index % 100}` },
      ...{ customerId: null, source: 'web', timestampMs: appendedAtMs, isTimestampGiven: true },
      properties: { region: 'eu', path: `/path/${index % 50}` },
    };
    const candidate = {
      ...{ environment: { tenantId: 't', environmentId: 'e' }, event, receivedAtMs: appendedAtMs },
      ...{ appendedAtMs, offset, index: 0, idHash, payloadHash: idHash.slice(0, 16) },
    };
    return { offset, appendedAtMs, candidates: [candidate], deadLetter: null };
  });
  const end = start + eventsOfBatch;
  const range = { logId: LOG_ID, partition: 0, start, end };
  const encoded = encodeBatch(range, foldBatch(records, new Map(), new Map()));
  const own = records.flatMap(({ candidates }) => candidates.map(({ idHash }) => idHash));
  return { ids: [...own, ...repeated], encoded, start, end, rows: own.length, appendedAtMs };
}

type Sample = { lookUpMs: number; insertMs: number; takeMs: number; lookedUp: number };

/** One store in the turns: where its partition stands, and what was measured. */
class Contestant {
  readonly samples: Sample[] = [];
  #next: number;
  #last: PreparedBatch | null = null;

  constructor(
    readonly store: OwnedStore,
    first: number,
    private readonly repeats: string[],
  ) {
    this.#next = first;
  }

  async turn(isMeasured: boolean): Promise<void> {
    const repeated = this.repeats.splice(0, Math.round(eventsOfBatch * Number(values.repeats)));
    const batch = prepare(this.#next, repeated);
    const times = await this.store.write(batch, repeated.length);
    this.#next = batch.end;
    this.#last = batch;
    // Ids that the next batches repeat in a store that has no others.
    if (this.repeats.length < eventsOfBatch) this.repeats.push(...batch.ids.slice(0, 100));
    const takeMs = await this.store.take(this.#next, this.#last);
    if (isMeasured) this.samples.push({ ...times, takeMs });
  }
}

function percentile(figures: readonly number[], share: number): number {
  const sorted = [...figures].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const DISTURBED_ROUNDS = 5;

await withAggregatorWorld(async ({ clickhouse: server, clickhouseUrl }) => {
  const open = async (name: string) => {
    const url = new URL(clickhouseUrl);
    url.pathname = `/${name}`;
    await migrateClickHouse(url.href, null);
    return createClickHouse(url.href);
  };
  const full = await open('full');
  await fillStore(full, plan, (month) => {
    console.log(`month ${month + 1} of ${plan.months} is stored`);
  });
  const facts = await factsOf(full);
  console.log(
    `${plan.ids} ids: ${facts.parts} parts, ${(facts.bytes / plan.ids).toFixed(1)} B an id`,
  );
  const first = Math.ceil((Math.ceil(plan.ids / plan.months) * plan.months) / plan.partitions);
  const perRate = Math.ceil((rounds + DISTURBED_ROUNDS) * eventsOfBatch * Number(values.repeats));
  const rates = values.rates.split(',').map(Number);
  const repeats = await someStoredIds(full, perRate * rates.length);
  const lines: (readonly (string | number)[])[] = [];
  const results: object[] = [];
  let begin = first;
  for (const rate of rates) {
    const empty = await open(`empty_${String(rate).replace('.', '_')}`);
    const contestants = {
      empty: new Contestant(new OwnedStore(empty, rate), 0, []),
      full: new Contestant(new OwnedStore(full, rate), begin, repeats.splice(0, perRate)),
    };
    const startedAtMs = performance.now();
    await contestants.full.store.take(begin, null);
    const warmSeconds = (performance.now() - startedAtMs) / 1000;
    await contestants.empty.store.take(0, null);
    for (let round = 0; round < rounds + DISTURBED_ROUNDS; round += 1) {
      const order = round % 2 === 0 ? (['empty', 'full'] as const) : (['full', 'empty'] as const);
      for (const name of order) await contestants[name].turn(round >= DISTURBED_ROUNDS);
    }
    begin += (rounds + DISTURBED_ROUNDS) * eventsOfBatch;
    const medians = Object.entries(contestants).map(([name, { samples, store }]) => {
      const of = (figure: (sample: Sample) => number, share = 0.5): number =>
        percentile(samples.map(figure), share);
      const batchMs = (sample: Sample): number => sample.lookUpMs + sample.insertMs;
      return {
        ...{ rate, name, filterMb: store.filterBytes / 2 ** 20, warmSeconds },
        ...{ lookedUp: of(({ lookedUp }) => lookedUp), lookUpMs: of(({ lookUpMs }) => lookUpMs) },
        ...{ insertMs: of(({ insertMs }) => insertMs), batchMs: of(batchMs) },
        ...{ batchP90Ms: of(batchMs, 0.9), takeMs: of(({ takeMs }) => takeMs) },
        takeP90Ms: of(({ takeMs }) => takeMs, 0.9),
      };
    });
    const [small, large] = medians;
    for (const row of medians) {
      const figures = [row.lookUpMs, row.insertMs, row.batchMs, row.batchP90Ms];
      const texts = [...figures, row.takeMs, row.takeP90Ms].map((figure) => figure.toFixed(1));
      lines.push([`${row.rate} ${row.name}`, row.filterMb.toFixed(1), row.lookedUp, ...texts]);
    }
    const ratio = (figure: 'batchMs' | 'takeMs'): string =>
      ((large?.[figure] ?? 0) / (small?.[figure] ?? 1)).toFixed(2);
    const blank = ['', '', '', ''];
    lines.push([`${rate} ratio`, ...blank, ratio('batchMs'), '', ratio('takeMs'), '']);
    results.push(...medians);
    await empty.close();
  }
  const head = ['rate, store', 'filter MB', 'looked up', 'look-up ms', 'inserts ms'];
  const rest = ['batch ms', 'p90', 'take ms', 'p90'];
  for (const line of tableLines([...head, ...rest], lines)) console.log(line);
  await writeResults('stored-ids', { plan, facts, rows: results });
  await full.close();
  await server.command('SELECT 1');
});
