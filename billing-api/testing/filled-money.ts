import type { BillingUnderTest } from './billing-harness.js';

/** What requests about money name. */
export type MoneyIdKind =
  | 'payable'
  | 'payable_line'
  | 'attempted'
  | 'payment'
  | 'spare_payment'
  | 'processed_payment'
  | 'credit_note'
  | 'draft_note'
  | 'spare_note'
  | 'wallet'
  | 'closing_wallet'
  | 'modified_wallet'
  | 'ending_subscription'
  | 'draft_subscription'
  | 'changing_subscription'
  | 'pausing_subscription'
  | 'phase'
  | 'paused_subscription'
  | 'scheduled_subscription'
  | 'schedule'
  | 'line_price'
  | 'line_addon'
  | 'addon_association'
  | 'addon_subscription'
  | 'fixed_line'
  | 'spare_line_item'
  | 'modified_subscription'
  | 'modified_line_item'
  | 'target_plan';

export type MoneyIds = Readonly<Record<MoneyIdKind, string>>;

type Make = (path: string, body: object) => Promise<{ readonly id: string }>;

/** A line item that a subscription was opened with. */
async function firstLineOf(call: BillingUnderTest['call'], subscriptionId: string) {
  const body = {
    subscription_ids: [subscriptionId],
    sort: [{ field: 'created_at', direction: 'asc' }],
  };
  const { items } = (await call('POST', '/v1/subscriptions/lineitems/search', { body })).body;
  return (items[0] as { readonly id: string }).id;
}

/** Subscriptions that are about to end, to begin and to change their plan. */
async function makeMoving(
  call: BillingUnderTest['call'],
  make: Make,
  { customerId, planId }: { readonly customerId: string; readonly planId: string },
) {
  const subscribe = (members: object) =>
    make('/v1/subscriptions', {
      customer_id: customerId,
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...members,
    });
  const ending = await subscribe({});
  const draft = await subscribe({ subscription_status: 'draft' });
  const changing = await subscribe({});
  const pausing = await subscribe({ phases: [{ start_date: '2026-01-01T00:00:00Z' }] });
  const { body: phased } = await call('GET', `/v1/subscriptions/${pausing.id}`);
  const paused = await subscribe({});
  await call('POST', `/v1/subscriptions/${paused.id}/pause`, { body: { pause_mode: 'immediate' } });
  const target = await make('/v1/plans', { name: 'Scale' });
  await make('/v1/prices', {
    entity_id: target.id,
    currency: 'usd',
    amount: '200',
    invoice_cadence: 'ADVANCE',
  });
  const scheduled = await subscribe({});
  const change = await call('POST', `/v1/subscriptions/${scheduled.id}/change/execute`, {
    body: {
      target_plan_id: target.id,
      billing_cadence: 'RECURRING',
      billing_cycle: 'anniversary',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      change_at: 'end_of_period',
      proration_behavior: 'none',
    },
  });
  const nine = { entity_id: target.id, currency: 'usd', amount: '9', invoice_cadence: 'ADVANCE' };
  const extra = await make('/v1/prices', nine);
  const ofTarget = { plan_id: target.id };
  const lined = await subscribe(ofTarget);
  const lineOf = () => make(`/v1/subscriptions/${lined.id}/lineitems`, { price_id: extra.id });
  const line = await lineOf();
  const addon = await make('/v1/addons', { name: 'Support', lookup_key: `support ${lined.id}` });
  await make('/v1/prices', {
    entity_type: 'ADDON',
    entity_id: addon.id,
    currency: 'usd',
    amount: '7',
    invoice_cadence: 'ADVANCE',
  });
  const joined = await make('/v1/subscriptions/addon', {
    subscription_id: lined.id,
    addon_id: addon.id,
  });
  const spare = await lineOf();
  // What it costs less is given to a wallet.
  await call('PUT', `/v1/subscriptions/lineitems/${await firstLineOf(call, lined.id)}`, {
    body: { quantity: '0' },
  });
  const modified = await subscribe(ofTarget);
  return {
    ending_subscription: ending.id,
    draft_subscription: draft.id,
    changing_subscription: changing.id,
    target_plan: target.id,
    pausing_subscription: pausing.id,
    paused_subscription: paused.id,
    phase: phased.phases[0].id as string,
    scheduled_subscription: scheduled.id,
    schedule: change.body.schedule_id as string,
    line_addon: addon.id,
    addon_association: joined.id,
    addon_subscription: lined.id,
    line_price: extra.id,
    fixed_line: line.id,
    spare_line_item: spare.id,
    modified_subscription: modified.id,
    modified_line_item: await firstLineOf(call, modified.id),
  };
}

/** Invoices with payments and notes on them, wallets, and a subscription to be cancelled. */
export async function makeMoney(
  call: BillingUnderTest['call'],
  make: Make,
  { customer: customerId = '', plan: planId = '' }: Partial<Record<'customer' | 'plan', string>>,
): Promise<MoneyIds> {
  const invoice = async (amount: string) => {
    const body = {
      customer_id: customerId,
      currency: 'usd',
      subtotal: amount,
      total: amount,
      amount_due: amount,
      line_items: [{ display_name: 'Training', amount }],
    };
    return (await call('POST', '/v1/invoices', { body })).body;
  };
  const payable = await invoice('150');
  const attempted = await invoice('80');
  const paymentOf = (amount: string, method: string) =>
    make('/v1/payments', {
      destination_type: 'INVOICE',
      destination_id: payable.id,
      currency: 'usd',
      payment_method_type: method,
      amount,
    });
  const payment = await paymentOf('20', 'OFFLINE');
  const spare = await paymentOf('30', 'CARD');
  const processed = await paymentOf('10', 'OFFLINE');
  const line = payable.line_items[0].id as string;
  const noteOf = (amount: string, isFinal: boolean) =>
    make('/v1/creditnotes', {
      invoice_id: payable.id,
      process_credit_note: isFinal,
      reason: 'SERVICE_ISSUE',
      line_items: [{ invoice_line_item_id: line, amount }],
    });
  const note = await noteOf('5', true);
  const draftNote = await noteOf('6', false);
  const spareNote = await noteOf('7', false);
  const walletOf = (members: object) =>
    make('/v1/wallets', { customer_id: customerId, currency: 'usd', ...members });
  // Grants of the subscription have opened one of rate 1.
  const wallet = await walletOf({
    name: 'Prepaid',
    conversion_rate: '0.5',
    initial_credits_to_load: '50',
  });
  const closing = await walletOf({ conversion_rate: '2', initial_credits_to_load: '5' });
  const modified = await walletOf({ conversion_rate: '3', initial_credits_to_load: '5' });
  const moving = await makeMoving(call, make, { customerId, planId });
  return {
    ...moving,
    payable: payable.id,
    payable_line: line,
    attempted: attempted.id,
    payment: payment.id,
    spare_payment: spare.id,
    processed_payment: processed.id,
    credit_note: note.id,
    draft_note: draftNote.id,
    spare_note: spareNote.id,
    wallet: wallet.id,
    closing_wallet: closing.id,
    modified_wallet: modified.id,
  };
}
