import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { encodeBatch } from '../../../aggregator/fold/encode-rows.js';
import { foldBatch } from '../../../aggregator/fold/fold-batch.js';
import { tableLines } from '../../../cli/demo/tables.js';
import { createClickHouse, type ClickHouse } from '../../../clickhouse/client.js';
import { migrateClickHouse } from '../../../clickhouse/migrate.js';
import { DAY_MS } from '../../../contract/instant.js';
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
 * --cases 0.01:day,0.05:day,0.01:year]`. A case is a rate of the filter, and how old the ids are
 * that come again. A filter that was just built is wrong five times less often than its rate says,
 * which holds until the ids have doubled: 0.05 shows how an old filter of 0.01 does.
 */
const { values } = parseArgs({
  options: {
    ids: { type: 'string', default: '100000000' },
    months: { type: 'string', default: '12' },
    partitions: { type: 'string', default: '12' },
    rounds: { type: 'string', default: '60' },
    events: { type: 'string', default: '3300' },
    repeats: { type: 'string', default: '0.02' },
    cases: { type: 'string', default: '0.01:day,0.05:day,0.01:year' },
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
const repeatsShare = Number(values.repeats);
/** In the last month, after all that is stored. */
const appendedAtMs = monthMs(plan, plan.months - 1) + 28 * DAY_MS;

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
      meterKey: 't|e|name-0',
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
    const repeated = this.repeats.splice(0, Math.round(eventsOfBatch * repeatsShare));
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

type Figures = {
  readonly of: string;
  readonly name: string;
  readonly filterMb: number;
  readonly lookedUp: number;
  readonly lookUpMs: number;
  readonly insertMs: number;
  readonly batchMs: number;
  readonly batchP90Ms: number;
  readonly takeMs: number;
  readonly takeP90Ms: number;
};

function figuresOf(of: string, name: string, { samples, store }: Contestant): Figures {
  const share = (figure: (sample: Sample) => number, rank = 0.5): number =>
    percentile(samples.map(figure), rank);
  const batchMs = (sample: Sample): number => sample.lookUpMs + sample.insertMs;
  return {
    ...{ of, name, filterMb: store.filterBytes / 2 ** 20 },
    lookedUp: share(({ lookedUp }) => lookedUp),
    lookUpMs: share(({ lookUpMs }) => lookUpMs),
    insertMs: share(({ insertMs }) => insertMs),
    ...{ batchMs: share(batchMs), batchP90Ms: share(batchMs, 0.9) },
    ...{ takeMs: share(({ takeMs }) => takeMs), takeP90Ms: share(({ takeMs }) => takeMs, 0.9) },
  };
}

/** The two stores in turns. */
async function measure(
  of: string,
  empty: Contestant,
  full: Contestant,
): Promise<readonly Figures[]> {
  const contestants = { empty, full };
  for (let round = 0; round < rounds + DISTURBED_ROUNDS; round += 1) {
    const order = round % 2 === 0 ? (['empty', 'full'] as const) : (['full', 'empty'] as const);
    for (const name of order) await contestants[name].turn(round >= DISTURBED_ROUNDS);
  }
  return [figuresOf(of, 'empty', empty), figuresOf(of, 'full', full)];
}

function linesOf(found: readonly Figures[]): readonly (readonly string[])[] {
  const lines = found.map((row) => {
    const times = [row.lookUpMs, row.insertMs, row.batchMs, row.batchP90Ms];
    const texts = [...times, row.takeMs, row.takeP90Ms].map((figure) => figure.toFixed(1));
    return [`${row.of} ${row.name}`, row.filterMb.toFixed(1), String(row.lookedUp), ...texts];
  });
  const ratio = (figure: 'batchMs' | 'takeMs'): string =>
    ((found[1]?.[figure] ?? 0) / (found[0]?.[figure] ?? 1)).toFixed(2);
  const ratios = ['ratio', '', '', '', '', ratio('batchMs'), '', ratio('takeMs'), ''];
  return [...lines, ratios];
}

const HEAD = [
  ...['case, store', 'filter MB', 'looked up', 'look-up ms', 'inserts ms'],
  ...['batch ms', 'p90', 'take ms', 'p90'],
];

async function measureAll(clickhouseUrl: string): Promise<void> {
  const open = async (name: string): Promise<ClickHouse> => {
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
  const bytes = (facts.bytes / plan.ids).toFixed(1);
  console.log(`${plan.ids} ids: ${facts.parts} parts, ${bytes} B an id`);
  const wanted = Math.ceil((rounds + DISTURBED_ROUNDS) * eventsOfBatch * repeatsShare);
  let begin = Math.ceil((Math.ceil(plan.ids / plan.months) * plan.months) / plan.partitions);
  const found: Figures[] = [];
  for (const [index, of] of values.cases.split(',').entries()) {
    const [rate = '0', age = ''] = of.split(':');
    const empty = await open(`empty_${index}`);
    const [small, large] = [
      new OwnedStore(empty, Number(rate)),
      new OwnedStore(full, Number(rate)),
    ];
    await small.take(0, null);
    await large.take(begin, null);
    const fromMs = age === 'year' ? 0 : appendedAtMs - 2 * DAY_MS;
    const repeats = await someStoredIds(full, { wanted, fromMs });
    const figures = await measure(
      of,
      new Contestant(small, 0, []),
      new Contestant(large, begin, repeats),
    );
    begin += (rounds + DISTURBED_ROUNDS) * eventsOfBatch;
    for (const line of tableLines(HEAD, linesOf(figures))) console.log(line);
    found.push(...figures);
    await empty.close();
  }
  await writeResults('stored-ids', { plan, facts, rows: found });
  await full.close();
}

await withAggregatorWorld(({ clickhouseUrl }) => measureAll(clickhouseUrl));
