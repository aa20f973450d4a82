import { PLANS, type PlanRow } from './plans-store.js';
import { insertRows, newRecordColumns } from '../../records/records.js';
import { type WriteDependencies, writeUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { MemberReader } from '../../records/member-rules.js';
import { alreadyExists, type Refusal } from '../../records/refusal.js';

export type PlanRequest = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly lookup_key?: string | undefined;
  readonly display_order?: number | undefined;
  readonly metadata?: Readonly<Record<string, string | number | boolean>> | undefined;
};

/** POST /plans. */
export async function createPlan(
  { database, clock, createId }: WriteDependencies,
  caller: Caller,
  request: PlanRequest,
): Promise<PlanRow | Refusal> {
  const reader = new MemberReader();
  const columns = {
    name: reader.name('name', request.name),
    description: request.description ?? null,
    lookup_key: request.lookup_key ?? null,
    display_order: request.display_order ?? null,
    price_sequence: 0,
    metadata: reader.metadata(request.metadata),
  };
  const refusal = reader.refusal();
  if (refusal !== null) return refusal;
  const row = { ...newRecordColumns(caller, createId('plan'), clock.now()), ...columns };
  return writeUnit({ database, clock, createId }, caller, async ({ tx: transaction }) => {
    const [plan] = await insertRows(transaction, PLANS, [row]);
    return plan ?? alreadyExists('plan', 'lookup_key');
  });
}
