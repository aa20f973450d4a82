import type { Command, Outcome } from '../../../aggregator/protocol/state.js';
import { tell, type Around } from './owner-steps.js';
import { isReads, type PartitionWorld } from './world.js';

type Reading = { readonly owner: number; readonly records: number; readonly version: number };

function readBatch(
  { meters, scenario }: Around,
  command: Extract<Command, { readonly kind: 'fetch' | 'refetch' }>,
  how: Reading,
): { readonly records: number; readonly version: number } {
  if (command.kind === 'fetch') {
    const polled = Math.min(how.version, meters.version);
    return {
      records: Math.min(how.records, scenario.plan.recordsMax),
      version: Math.max(polled, command.catalogVersionMin),
    };
  }
  const { end, catalogVersion } = command.intent;
  const isPinned = scenario.mutation !== 'refetch_newest_catalog';
  return {
    records: Math.min(how.records, end - command.from),
    version: isPinned ? catalogVersion : meters.version,
  };
}

/** The newest catalog that the process knows, but none that is older than it asks for. */
function loadCatalog(
  around: Around,
  partition: PartitionWorld,
  {
    owner,
    version,
    command,
  }: Reading & { readonly command: Extract<Command, { readonly kind: 'load_catalog' }> },
): PartitionWorld | null {
  const known = Math.max(Math.min(version, around.meters.version), command.versionMin);
  const catalog = around.meters.catalogs[known - 1];
  if (catalog === undefined) return null;
  return tell(around, partition, { owner, outcome: { kind: 'catalog_loaded', catalog } });
}

/** Reads the log, perhaps too little, with the catalog that the process knows at that time. */
export function read(
  around: Around,
  partition: PartitionWorld,
  how: Reading,
): PartitionWorld | null {
  const command = partition.owners[how.owner]?.step.command;
  if (command === undefined || !isReads(command)) return null;
  const { owner } = how;
  if (command.kind === 'load_catalog') return loadCatalog(around, partition, { ...how, command });
  if (command.from < partition.logStart) {
    const { logStart, logEnd } = partition;
    const outcome: Outcome = { kind: 'not_in_log', offset: command.from, logStart, logEnd };
    return tell(around, partition, { owner, outcome });
  }
  const batch = readBatch(around, command, how);
  const catalog = around.meters.catalogs[batch.version - 1];
  if (catalog === undefined) return null;
  const end = Math.min(command.from + batch.records, partition.logEnd);
  const records = around.facts.records.slice(command.from, end);
  return tell(around, partition, { owner, outcome: { kind: 'fetched', records, catalog } });
}
