import type { MeterFilter } from '../../../contract/meter.js';
import { assertPresent } from '../../../runtime/failure.js';
import {
  findFedVersions,
  lockMeter,
  revertDefinition,
  updateMeter,
  type ChangedBy,
  type MeterMembers,
} from './meter-changes-store.js';
import { activateDefinition, type MeterRow } from './meters-store.js';
import { type Transaction, type WriteDependencies, writeUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { MemberReader } from '../../records/member-rules.js';
import { isSameFilters, readMeterFilters } from './meter-rules.js';
import { isRefusal, notFound, Refusal } from '../../records/refusal.js';

/** A change as PUT /meters/{id} names it: absent members stay, null clears one. */
export type MeterChange = {
  readonly name?: string | undefined;
  readonly metadata?: Readonly<Record<string, string | number | boolean>> | null | undefined;
  readonly filters?: readonly MeterFilter[] | null | undefined;
  readonly event_name?: unknown;
  readonly aggregation?: unknown;
  readonly reset_usage?: unknown;
};

const IMMUTABLE = ['event_name', 'aggregation', 'reset_usage'] as const;

type Members = Partial<Pick<MeterMembers, 'name' | 'metadata' | 'filters'>>;

/** The members that a change sets, or what is wrong with it. */
function membersFrom(change: MeterChange): Members | Refusal {
  const reader = new MemberReader();
  for (const member of IMMUTABLE) {
    if (change[member] !== undefined) reader.note(member, 'cannot be changed');
  }
  const { name, metadata, filters } = change;
  const members = {
    ...(name === undefined ? {} : { name: reader.name('name', name) }),
    ...(metadata === undefined ? {} : { metadata: reader.metadata(metadata ?? {}) }),
    ...(filters === undefined ? {} : { filters: readMeterFilters(reader, filters ?? []) }),
  };
  return reader.refusal() ?? members;
}

/**
 * Writes other filters: a new version, which readers see when it has been applied to all stored
 * events; or at once, when it takes back a change whose earlier version is still fed.
 */
async function changeFilters(
  transaction: Transaction,
  meter: MeterMembers,
  by: ChangedBy,
): Promise<MeterRow> {
  const fed = await findFedVersions(transaction, meter.id);
  const changed = await updateMeter(transaction, { ...meter, version: meter.version + 1 }, by);
  const earlier = fed.find(({ filters }) => isSameFilters(filters, meter.filters));
  const written =
    earlier === undefined
      ? await activateDefinition(transaction, changed)
      : await revertDefinition(transaction, changed, earlier);
  return assertPresent(written, 'the changed meter');
}

/** Which change the caller means: the meter, the members, and the versions it may have. */
export type MeterChangeWish = {
  readonly id: string;
  readonly change: MeterChange;
  readonly isExpected: (version: number) => boolean;
};

function refusalOf(meter: MeterRow, wish: MeterChangeWish): Refusal | null {
  if (!wish.isExpected(meter.version)) {
    return new Refusal('version_conflict', `the meter has version ${meter.version}`);
  }
  return meter.status === 'published'
    ? null
    : new Refusal('invalid_operation', `the meter is ${meter.status}`);
}

/** PUT /meters/{id}. */
export async function changeMeter(
  dependencies: WriteDependencies,
  caller: Caller,
  wish: MeterChangeWish,
): Promise<MeterRow | Refusal> {
  const members = membersFrom(wish.change);
  if (isRefusal(members)) return members;
  const by = { userId: caller.userId, now: dependencies.clock.now() };
  return writeUnit(
    dependencies,
    caller,
    async ({ tx: transaction }): Promise<MeterRow | Refusal> => {
      const meter = await lockMeter(transaction, wish.id);
      if (meter === null) return notFound('meter', wish.id);
      const refusal = refusalOf(meter, wish);
      if (refusal !== null) return refusal;
      const { filters, ...others } = members;
      const kept = { ...meter, ...others };
      if (filters === undefined || isSameFilters(filters, meter.filters)) {
        return updateMeter(transaction, kept, by);
      }
      if (meter.backfill.status === 'running') {
        const message = `version ${meter.version} of the meter is being applied to stored events`;
        return new Refusal('version_conflict', message);
      }
      return changeFilters(transaction, { ...kept, filters }, by);
    },
  );
}
