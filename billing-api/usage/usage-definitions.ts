import { sql } from 'slonik';
import { z } from 'zod';
import type { InstantMs } from '../../contract/instant.js';
import { instantColumn } from '../../sql/columns.js';
import {
  effectiveMetersFrom,
  eventCorrectionsColumn,
  effectiveRow,
  type EffectiveMeter,
} from '../catalog/meters/effective-meters.js';
import { usageCustomerRow, type UsageCustomer } from '../customers/customers-store.js';
import type { CustomerReference } from '../customers/named-customer.js';
import type { Reading } from '../records/occasion.js';
import type { EventCorrection } from '../domain/usage/event-correction.js';
import { notFound, type Refusal } from '../records/refusal.js';
import type { ReadDependencies } from '../records/unit.js';
import type { ReadDataUntil } from './watermark/data-until.js';

/** Whom and what a request about usage names. */
export type NamedInRequest = {
  readonly meterIds: readonly string[];
  readonly externalIds: readonly string[];
  readonly customerId: string | null;
};

/** What a request about usage must know of PostgreSQL before it reads any usage. */
export type UsageDefinitions = {
  /** Those that were found: the published ones with these external ids, and the one by its id. */
  readonly customers: readonly UsageCustomer[];
  readonly meters: ReadonlyMap<string, EffectiveMeter>;
  /** The watermark: what is read from now on has every event received before. */
  readonly dataUntil: InstantMs | null;
  /** The instant of the question, from the clock of the environment. */
  readonly now: InstantMs;
};

export type DefinitionsDependencies = ReadDependencies & { readonly dataUntil: ReadDataUntil };

const definitionsRow = z.object({
  test_clock: instantColumn.nullable(),
  asked_at: instantColumn.nullable(),
  is_known: z.boolean().nullable(),
  pending_since: instantColumn.nullable(),
  counted_events: instantColumn.nullable(),
  found_customers: z.array(usageCustomerRow),
  found_meters: z.array(effectiveRow),
});

/**
 * Customers, meters and watermark in one statement. It enters the environment by itself, so that
 * row-level security binds it as it does a transaction of the environment.
 */
export async function readDefinitions(
  { database, clock, dataUntil }: DefinitionsDependencies,
  { environment: { tenantId, environmentId }, at }: Reading,
  { meterIds, externalIds, customerId }: NamedInRequest,
): Promise<UsageDefinitions> {
  const { ofPendingAppend } = dataUntil;
  const [row, until] = await Promise.all([
    database.slonik.one(sql.type(definitionsRow)`
      SELECT *, find_test_clock(${tenantId}, ${environmentId}) AS test_clock,
        find_counted_events() AS counted_events
      FROM find_usage_definitions(${tenantId}, ${environmentId},
        ${sql.array([...new Set(meterIds)], 'text')},
        ${sql.array([...new Set(externalIds)], 'text')},
        ${customerId}, ${ofPendingAppend !== undefined})`),
    ofPendingAppend === undefined ? dataUntil() : null,
  ]);
  const { asked_at: askedAt, is_known: isKnown } = row;
  const pending =
    askedAt === null || isKnown === null ? null : { ...row, asked_at: askedAt, is_known: isKnown };
  return {
    customers: row.found_customers,
    meters: effectiveMetersFrom(row.found_meters),
    dataUntil: pending === null ? until : (ofPendingAppend?.(pending) ?? null),
    now: at ?? row.test_clock ?? clock.now(),
  };
}

/** The corrections of events of a name that are in force, for who reads no meter of it. */
export function readEventCorrections(
  { database }: ReadDependencies,
  { environment }: Reading,
  eventName: string,
): Promise<readonly EventCorrection[]> {
  return database.readSnapshot(environment, async (tx) => {
    const { corrections } = await tx.one(
      sql.type(
        z.object({ corrections: eventCorrectionsColumn }),
      )`SELECT list_event_corrections(${eventName}) AS corrections`,
    );
    return corrections;
  });
}

/** The external id decides when both are given, as with events (docs/domain.md 7.2). */
export function namedCustomer({
  external_customer_id: externalId,
  customer_id: id,
}: CustomerReference): Pick<NamedInRequest, 'externalIds' | 'customerId'> {
  if (externalId !== undefined) return { externalIds: [externalId], customerId: null };
  return { externalIds: [], customerId: id ?? null };
}

/** The customer that a request names; null when it names none. */
export function foundCustomer(
  { customers: [customer] }: Pick<UsageDefinitions, 'customers'>,
  { external_customer_id: externalId, customer_id: id }: CustomerReference,
): UsageCustomer | null | Refusal {
  const name = externalId ?? id;
  if (name === undefined) return null;
  return customer ?? notFound('customer', name);
}
