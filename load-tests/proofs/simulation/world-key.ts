import type {
  Batch,
  Checkpoint,
  Draft,
  PreparedBatch,
  State,
} from '../../../aggregator/protocol/state.js';
import { requestName, writeName } from './actions.js';
import { definitionsIn, type Scenario } from './scenario.js';
import {
  FRESH_OWNER,
  type MetersWorld,
  type Owner,
  type OwnerFilter,
  type Part,
  type PartitionWorld,
  type Request,
  type World,
} from './world.js';

/**
 * A text that is equal for two worlds exactly when the same can still happen in both. Processes
 * are interchangeable while they run one release, so their texts are sorted. A batch is identified
 * by its digest and its usage. The texts of parts are cached by object identity, since most parts
 * of a world are those of the previous one.
 */
function remembered<T extends object>(textOf: (piece: T) => string): (piece: T) => string {
  const texts = new WeakMap<T, string>();
  return (piece) => {
    const known = texts.get(piece);
    if (known !== undefined) return known;
    const text = textOf(piece);
    texts.set(piece, text);
    return text;
  };
}

const rowKey = remembered((row: Checkpoint): string => {
  const { intent, lastBatch } = row;
  const intentKey =
    intent === null
      ? '-'
      : `${intent.end},${intent.catalogVersion},${intent.foldVersion},${intent.digest}`;
  const last =
    lastBatch === null ? '-' : `${lastBatch.start},${lastBatch.rows},${lastBatch.erased}`;
  return `${row.epoch},${row.nextOffset},${intentKey},${row.minVersion},${row.catalogVersion},${last}`;
});

const batchKey = remembered(
  ({ range, catalogVersion, digest, encoded }: Batch): string =>
    `${range.start}-${range.end},${catalogVersion},${digest},` + encoded.usage.bytes.toString(),
);

const draftKey = ({ records, catalog, end }: Draft): string =>
  `${records.length},${catalog.version},${end}`;

const preparedKey = remembered(({ draft, digest, seen }: PreparedBatch): string => {
  const generations = definitionsIn(draft.catalog.meters).map(({ generation }) => generation);
  return `${draftKey(draft)},${generations.join()},${digest},${[...seen.keys()].sort().join()}`;
});

function stateKey(state: State): string {
  const pieces: string[] = [state.phase];
  if ('checkpoint' in state) pieces.push(rowKey(state.checkpoint));
  if ('batch' in state) pieces.push(batchKey(state.batch));
  if ('draft' in state) pieces.push(draftKey(state.draft), state.intent?.digest ?? '-');
  if ('prepared' in state) pieces.push(preparedKey(state.prepared));
  if ('wasRefused' in state) pieces.push(String(state.wasRefused));
  if ('remaining' in state) pieces.push(state.remaining.join());
  if ('reason' in state) pieces.push(state.reason);
  return pieces.join(' ');
}

const filterKey = remembered(
  ({ idHashes, completeBelow }: OwnerFilter): string =>
    `${[...idHashes].sort().join()}<${completeBelow}`,
);

function partsKey(parts: readonly Part[]): string {
  return parts
    .map(
      ({ start, end, rows, usage, isSynced }) =>
        `${start}-${end}:${rows.join()}:${JSON.stringify(usage)}${isSynced ? '' : '?'}`,
    )
    .sort()
    .join(' ');
}

const requestKey = remembered(requestName);

function ownerKey({ step, inserting, filter }: Owner): string {
  const waits =
    inserting === null
      ? ''
      : `${inserting.tables.join()} ${inserting.outcome} ${inserting.refused.join()}`;
  return `${stateKey(step.state)}/${waits}/${filter === null ? '' : filterKey(filter)}`;
}

/** Gives each text of a part a number, since these texts are long and occur often. */
export function createWorldKey({ plan }: Scenario): (world: World) => string {
  const numbers = new Map<string, number>();
  const numberOf = (text: string): number => {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    numbers.set(text, numbers.size);
    return numbers.size - 1;
  };
  const keyOfOwner = remembered((owner: Owner) => String(numberOf(ownerKey(owner))));
  const keyOfParts = remembered((parts: readonly Part[]) => String(numberOf(partsKey(parts))));
  const keyOfRow = remembered((row: Checkpoint) => String(numberOf(rowKey(row))));
  const keyOfMeters = remembered(({ catalogs: _, ...meters }: MetersWorld) =>
    String(numberOf(JSON.stringify(meters))),
  );
  const keyOfPartition = (partition: PartitionWorld): string => {
    const { row, rowBefore, gate, tables, lateWrites, erased } = partition;
    const late = lateWrites.map(writeName).sort();
    return [
      row === null ? '-' : keyOfRow(row),
      rowBefore === null ? '-' : keyOfRow(rowBefore),
      `${gate},${partition.logStart},${partition.logEnd}`,
      keyOfParts(tables.events),
      keyOfParts(tables.ids),
      keyOfParts(tables.usage),
      keyOfParts(tables.duplicates),
      [...erased].sort().join(' '),
      late.length === 0 ? '' : numberOf(late.join()),
    ].join();
  };
  const keyOfRequests = (requests: readonly Request[], process: number | null): string => {
    const own = requests.filter((request) => request.process === process);
    return own.length === 0 ? '' : String(numberOf(own.map(requestKey).sort().join()));
  };
  /** The processes in order, or sorted where they are interchangeable. */
  const keyOfProcesses = ({ partitions, requests }: World): string => {
    const processes = partitions[0]?.owners.map((_, process) => {
      const owners = partitions.map((partition) => partition.owners[process] ?? FRESH_OWNER);
      return [...owners.map(keyOfOwner), keyOfRequests(requests, process)].join();
    });
    return (plan.hasOtherRelease ? processes : processes?.sort())?.join('/') ?? '';
  };
  return (world) =>
    [
      ...world.partitions.map(keyOfPartition),
      keyOfProcesses(world),
      keyOfRequests(world.requests, null),
      keyOfMeters(world.meters),
      Object.values(world.budget).join(),
    ].join('|');
}
