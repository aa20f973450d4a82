import { sql, type FragmentSqlToken } from 'slonik';
import { METERS, type MeterRow } from '../../declarations/catalog/meter.resource.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import { findRecords } from '../../records/find-record.js';
import { Refusal } from '../../records/refusal.js';
import type { StatementUnit } from '../../records/unit.js';
import type { ComputedTask } from '../drafts/compute-tasks.js';

/** What an invoice is of, as columns of a statement. */
type InvoicedColumns = {
  /** The table or its alias, which has the columns of an environment. */
  readonly owner: string;
  readonly subscriptionId: FragmentSqlToken;
  readonly from: FragmentSqlToken;
  readonly until: FragmentSqlToken;
};

/**
 * Whether the invoice of a subscription and a period waits for none of its meters (docs/domain.md
 * 7.4). Where no meter of the environment is being backfilled, nothing else is looked at.
 */
export function waitsForNoMeter({
  owner,
  subscriptionId,
  from,
  until,
}: InvoicedColumns): FragmentSqlToken {
  const tenantId = sql.identifier([owner, 'tenant_id']);
  const environmentId = sql.identifier([owner, 'environment_id']);
  return sql.fragment`(NOT EXISTS (
      SELECT FROM meters AS open
      WHERE open.backfill ->> 'status' IN ('running', 'failed') AND ${rowIsOfEnvironment('open')})
    OR awaited_meter(${tenantId}, ${environmentId}, ${subscriptionId}, ${from}, ${until}) IS NULL)`;
}

/** Why a computed invoice cannot be final as it is: a meter of its lines. */
export type MeterWait = {
  readonly meter: MeterRow;
  /** Stored events are being applied to it; or that was so, or it changed, since it was read. */
  readonly kind: 'backfilled' | 'outdated';
};

const isOpen = ({ backfill: { status } }: MeterRow): boolean =>
  status === 'running' || status === 'failed';

function waitOf(read: MeterRow, now: MeterRow | undefined): MeterWait | null {
  if (now !== undefined && isOpen(now)) return { meter: now, kind: 'backfilled' };
  const isSame = now?.read_version === read.read_version && !isOpen(read);
  return isSame ? null : { meter: read, kind: 'outdated' };
}

/** What each of these invoices waits for; null for nothing. One statement for all. */
export async function findMeterWaits(
  unit: StatementUnit,
  computed: readonly ComputedTask[],
): Promise<(one: ComputedTask) => MeterWait | null> {
  const ids = computed.flatMap(({ meters }) => meters.map(({ id }) => id));
  const rows = await findRecords(unit, METERS, ids);
  return ({ meters }) => {
    const waits = meters.map((meter) => waitOf(meter, rows.get(meter.id)));
    return (
      waits.find((wait) => wait?.kind === 'backfilled') ??
      waits.find((wait) => wait !== null) ??
      null
    );
  };
}

/** The invoices that can be final as they were computed. */
export async function withoutWaits(
  unit: StatementUnit,
  computed: readonly ComputedTask[],
): Promise<readonly ComputedTask[]> {
  const waitFor = await findMeterWaits(unit, computed);
  return computed.filter((one) => waitFor(one) === null);
}

/** An invoice cannot be final until the backfill of a meter is over. */
export class MeterRefusal extends Refusal {}

/** What a caller is told who wants such an invoice to be final. */
export function refusalOfWait({ meter: { id, name }, kind }: MeterWait): Refusal {
  if (kind === 'outdated') {
    return new Refusal(
      'version_conflict',
      `meter ${name} (${id}) has changed meanwhile; try again`,
    );
  }
  const problem = `stored events are being applied to meter ${name} (${id}), which the invoice bills`;
  const remedy = `try again when its backfill is completed, which GET /meters/${id} shows`;
  return new MeterRefusal('invalid_operation', `${problem}; ${remedy}`);
}
