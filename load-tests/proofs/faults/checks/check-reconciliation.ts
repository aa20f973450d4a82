import { identityOf } from '../load/ledger.js';
import { ENVIRONMENTS, isMetered } from '../load/usage-meter.js';
import type { World } from '../world/world.js';
import { isConflict, type LogContent } from './read-log.js';
import type { Findings } from './verdict.js';

const HOUR_MS = 3_600_000;

/** The figures of an hour that GET /events/reconciliation answers. */
const FIGURES = [
  'accepted',
  'counted',
  'unmatched',
  'unmatched_customer',
  'unmatched_meter',
  'duplicate',
  'conflict',
  'pending',
  'difference',
] as const;
type Figures = Map<string, number>;
type Answer = { readonly items: readonly Readonly<Record<string, string | number>>[] };

/** Under which figures an event stands that is stored; by its customer and meters today. */
function outcomeOf(world: World, identity: string): readonly string[] {
  const sent = world.ledger.sent.get(identity);
  if (sent === undefined) return [];
  const { environment, body } = sent;
  const { customers, meterIds } = world.registered;
  if (!customers.has(identityOf(environment, body.external_customer_id ?? ''))) {
    return ['unmatched', 'unmatched_customer'];
  }
  const isCounted = world.meters.some(
    (meter) =>
      meter.environment === environment && meterIds.has(meter.meterId) && isMetered(meter, body),
  );
  return isCounted ? ['counted'] : ['unmatched', 'unmatched_meter'];
}

/** What the log says of an environment, by hour of receipt. */
function expectedHours(
  world: World,
  log: LogContent,
  environment: number,
): ReadonlyMap<string, Figures> {
  const hours = new Map<string, Figures>();
  const add = (receivedAtMs: number, figures: readonly string[]): void => {
    const hour = new Date(Math.floor(receivedAtMs / HOUR_MS) * HOUR_MS).toISOString();
    const found = hours.get(hour) ?? new Map<string, number>();
    hours.set(hour, found);
    for (const figure of figures) found.set(figure, (found.get(figure) ?? 0) + 1);
  };
  for (const [identity, occurrences] of log.events) {
    if (!identity.startsWith(identityOf(environment, ''))) continue;
    for (const [index, found] of occurrences.entries()) {
      const conflict = isConflict(found, occurrences) ? ['conflict'] : [];
      const outcome = index === 0 ? outcomeOf(world, identity) : ['duplicate', ...conflict];
      add(found.receivedAtMs, ['accepted', ...outcome]);
    }
  }
  return hours;
}

function shown(hour: string, figure: (name: string) => number): string {
  return `${hour} ${FIGURES.map((name) => `${name} ${figure(name)}`).join(', ')}`;
}

/**
 * I5: GET /events/reconciliation of every environment says, hour by hour, what the log says. A
 * malformed record names no environment for certain, so that it is in none of these figures; the
 * dead letters are compared on their own.
 */
export async function checkReconciliation(
  world: World,
  log: LogContent,
  findings: Findings,
): Promise<void> {
  for (const environment of ENVIRONMENTS.keys()) {
    const expected = expectedHours(world, log, environment);
    const from = [...expected.keys()].sort()[0] ?? new Date().toISOString();
    const path = `/events/reconciliation?start_time=${encodeURIComponent(from)}`;
    const { items } = await world.api(environment).get<Answer>(path);
    const answered = new Map(items.map((item) => [String(item['hour']), item]));
    for (const hour of new Set([...expected.keys(), ...answered.keys()])) {
      const wanted = shown(hour, (name) => expected.get(hour)?.get(name) ?? 0);
      const found = shown(hour, (name) => Number(answered.get(hour)?.[name] ?? 0));
      if (found !== wanted) {
        const { environmentId } = ENVIRONMENTS[environment] ?? { environmentId: '?' };
        findings.note('reconciliation', `${environmentId}: ${found}, not ${wanted}`);
      }
    }
  }
}
