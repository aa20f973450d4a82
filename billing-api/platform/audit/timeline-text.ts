type Values = Readonly<Record<string, unknown>>;

/** The columns that say in which state a record is. */
const STATES = [
  'subscription_status',
  'invoice_status',
  'payment_status',
  'credit_note_status',
  'wallet_status',
  'transaction_status',
  'pause_status',
  'schedule_status',
  'addon_status',
  'application_status',
] as const;

/** The columns that say what a record is called, the best one first. */
const NAMES = ['invoice_number', 'credit_note_number', 'display_name', 'name'] as const;

/** The columns that say how much it is, the best one first. */
const AMOUNTS = ['total', 'credit_amount', 'amount'] as const;

function textOf(values: Values, names: readonly string[]): string | null {
  for (const name of names) {
    const value = values[name];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return null;
}

function stateOf(values: Values | null): string | null {
  return values === null ? null : textOf(values, STATES);
}

/** What a change is, in one line: `invoice INV-1: finalize, DRAFT → FINALIZED, 12.00 usd`. */
export function timelineText({
  entityType,
  action,
  before,
  after,
}: {
  readonly entityType: string;
  readonly action: string;
  readonly before: Values | null;
  readonly after: Values;
}): string {
  const what = [entityType.replaceAll('_', ' '), textOf(after, NAMES)].filter(Boolean).join(' ');
  const [was, is] = [stateOf(before), stateOf(after)];
  const state = was === is || was === null ? is : `${was} → ${is ?? 'none'}`;
  const amount = textOf(after, AMOUNTS);
  const money = amount === null ? null : [amount, textOf(after, ['currency'])].filter(Boolean);
  return [`${what}: ${action.replaceAll('_', ' ')}`, state, money?.join(' ') ?? null]
    .filter((part) => part !== null)
    .join(', ');
}

/** Where a record of each type is read, by its id and by what it names. */
const PATHS: Readonly<Record<string, (id: string, after: Values) => string>> = {
  customer: (id) => `customers/${id}`,
  subscription: (id) => `subscriptions/${id}`,
  invoice: (id) => `invoices/${id}`,
  payment: (id) => `payments/${id}`,
  credit_note: (id) => `creditnotes/${id}`,
  wallet: (id) => `wallets/${id}`,
  wallet_transaction: (_, { wallet_id: id }) => `wallets/${String(id)}/transactions`,
  schedule: (id) => `subscriptions/schedules/${id}`,
};

/** The path of a record, or of the subscription that it belongs to; null without either. */
export function timelineLink(entityType: string, id: string, after: Values): string | null {
  const path = PATHS[entityType];
  if (path !== undefined) return `/v1/${path(id, after)}`;
  const { subscription_id: subscriptionId } = after;
  return typeof subscriptionId === 'string' ? `/v1/subscriptions/${subscriptionId}` : null;
}
