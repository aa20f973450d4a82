import { plain } from '../../contract/number/decimal.js';
import type { InstantMs } from '../../contract/instant.js';
import { endProblem, MemberReader } from '../records/member-rules.js';
import type { Refusal } from '../records/refusal.js';
import type {
  CreateCreditGrantBody,
  CreditGrantOfSubscriptionBody,
  CreditGrantRow,
  CreditGrantTermsBody,
  NewCreditGrant,
} from '../declarations/credit-grants/credit-grant.resource.js';

const OWNER_MEMBERS = {
  PLAN: 'plan_id',
  ADDON: 'addon_id',
  SUBSCRIPTION: 'subscription_id',
} as const;

type OwnerColumns = Pick<NewCreditGrant, 'plan_id' | 'addon_id' | 'subscription_id'>;

/** The owner of the scope, and no other. */
function readOwner(reader: MemberReader, body: CreateCreditGrantBody): OwnerColumns {
  const { scope } = body;
  for (const member of Object.values(OWNER_MEMBERS)) {
    const isOwner = member === OWNER_MEMBERS[scope];
    if (isOwner && body[member] === undefined) {
      reader.note(member, `is required with scope ${scope}`);
    }
    if (!isOwner && body[member] !== undefined) {
      reader.note(member, `must be left out with scope ${scope}`);
    }
  }
  const { plan_id = null, addon_id = null, subscription_id = null } = body;
  return { plan_id, addon_id, subscription_id };
}

type DateColumns = Pick<NewCreditGrant, 'start_date' | 'end_date' | 'credit_grant_anchor'>;

const DATE_MEMBERS = ['start_date', 'end_date', 'credit_grant_anchor'] as const;

/** The dates of a grant of a subscription. */
function readOwnDates(
  reader: MemberReader,
  body: CreditGrantTermsBody,
  start: InstantMs | null,
): DateColumns {
  const end = reader.instant('end_date', body.end_date);
  const anchor = reader.instant('credit_grant_anchor', body.credit_grant_anchor);
  reader.note('end_date', endProblem('start_date', start, end));
  reader.note('credit_grant_anchor', endProblem('start_date', start, anchor));
  return { start_date: start, end_date: end, credit_grant_anchor: anchor ?? start };
}

/** A grant of a plan or an addon gets its dates from the subscription that it is copied to. */
function readDates(reader: MemberReader, body: CreateCreditGrantBody): DateColumns {
  if (body.scope === 'SUBSCRIPTION') {
    if (body.start_date === undefined) {
      reader.note('start_date', 'is required with scope SUBSCRIPTION');
    }
    return readOwnDates(reader, body, reader.instant('start_date', body.start_date));
  }
  for (const member of DATE_MEMBERS) {
    if (body[member] !== undefined) {
      reader.note(
        member,
        `must be left out with scope ${body.scope}: only subscriptions have dates`,
      );
    }
  }
  return { start_date: null, end_date: null, credit_grant_anchor: null };
}

type TermColumns = Pick<
  NewCreditGrant,
  | 'cadence'
  | 'period'
  | 'period_count'
  | 'expiration_type'
  | 'expiration_duration'
  | 'expiration_duration_unit'
>;

/** Members that RECURRING and DURATION need; where they are not needed they are only kept. */
const NEEDED = [
  ['period', 'cadence', 'RECURRING'],
  ['period_count', 'cadence', 'RECURRING'],
  ['expiration_duration', 'expiration_type', 'DURATION'],
  ['expiration_duration_unit', 'expiration_type', 'DURATION'],
] as const;

function readTerms(reader: MemberReader, body: CreditGrantTermsBody): TermColumns {
  for (const [member, by, value] of NEEDED) {
    const isMissing = body[by] === value && body[member] === undefined;
    if (isMissing) reader.note(member, `is required with ${by} ${value}`);
  }
  const { period = null, period_count = null, expiration_type = 'NEVER' } = body;
  const { expiration_duration = null, expiration_duration_unit = null } = body;
  return {
    cadence: body.cadence,
    period,
    period_count,
    expiration_type,
    expiration_duration,
    expiration_duration_unit,
  };
}

function readPositive(reader: MemberReader, member: string, text: string | undefined) {
  const value = reader.positive(member, text);
  return value === null ? null : plain(value);
}

/** What every grant has, whoever owns it and whenever it begins. */
function readMembers(reader: MemberReader, body: CreditGrantTermsBody) {
  return {
    name: reader.name('name', body.name),
    credits: readPositive(reader, 'credits', body.credits) ?? '',
    ...readTerms(reader, body),
    priority: body.priority ?? null,
    conversion_rate: readPositive(reader, 'conversion_rate', body.conversion_rate),
    topup_conversion_rate: readPositive(
      reader,
      'topup_conversion_rate',
      body.topup_conversion_rate,
    ),
    metadata: reader.metadata(body.metadata),
  };
}

/** Reads a new grant (docs/domain.md 3.2). */
export function readCreditGrant(body: CreateCreditGrantBody): NewCreditGrant | Refusal {
  const reader = new MemberReader();
  const grant = {
    scope: body.scope,
    ...readOwner(reader, body),
    ...readMembers(reader, body),
    ...readDates(reader, body),
  };
  return reader.refusal() ?? grant;
}

/** A grant of a subscription that has no id yet. */
export type GrantOfNewSubscription = Omit<NewCreditGrant, 'subscription_id'>;

/**
 * Reads `credit_grants` of a new subscription: they begin with it unless they say otherwise, and
 * have the rules of all others. Notes what is wrong with each at its place.
 */
export function readGrantsOfSubscription(
  reader: MemberReader,
  bodies: readonly CreditGrantOfSubscriptionBody[] = [],
  subscriptionStartMs: InstantMs,
): readonly GrantOfNewSubscription[] {
  return bodies.map((body, index) => {
    const own = new MemberReader();
    const start = own.instant('start_date', body.start_date) ?? subscriptionStartMs;
    const owner = { scope: 'SUBSCRIPTION', plan_id: null, addon_id: null } as const;
    const grant = { ...owner, ...readMembers(own, body), ...readOwnDates(own, body, start) };
    const problems = Object.entries(own.refusal()?.details ?? {});
    for (const [member, text] of problems) reader.note(`credit_grants.${index}.${member}`, text);
    return grant;
  });
}

/** Why a grant cannot end at this instant; null when it can. */
export function grantEndProblem(
  row: CreditGrantRow,
  endMs: InstantMs | null,
  now: InstantMs,
): string | null {
  if (row.scope !== 'SUBSCRIPTION') return `must be left out with scope ${row.scope}`;
  if (row.end_date !== null && row.end_date <= now) return 'has passed: the grant has ended';
  if (endMs === null) return null;
  const isPast = endMs < now && row.start_date !== endMs;
  const problem = endProblem('start_date', row.start_date, endMs);
  return problem ?? (isPast ? 'must not be in the past' : null);
}
