import type { Sample } from './sample-requests.js';

/** A change of plan, to whole months from now on. */
const changeTo = (planId: string) => ({
  target_plan_id: planId,
  billing_cadence: 'RECURRING',
  billing_cycle: 'anniversary',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  proration_behavior: 'create_prorations',
});

/** Fifteen of a line item. */
const quantityOf = (id: string) => ({
  type: 'quantity_change',
  quantity_change_params: { line_items: [{ id, quantity: '15' }] },
});

/** Requests about payments, credit notes, wallets, the ledger and cancellations. */
export const MONEY: Readonly<Record<string, Sample>> = {
  ChangeSubscription: (ids) => ({
    path: { id: ids.subscription },
    body: { payment_terms: '30 NET', metadata: { team: 'growth' } },
  }),
  ReadSubscriptionEntitlements: (ids) => ({ path: { id: ids.subscription } }),
  CancelSubscription: (ids) => ({
    path: { id: ids.ending_subscription },
    body: { cancellation_type: 'end_of_period', reason: 'moved to another product' },
  }),
  AddAddonToSubscription: (ids) => ({
    body: { subscription_id: ids.modified_subscription, addon_id: ids.line_addon },
  }),
  RemoveAddonFromSubscription: (ids) => ({
    body: { addon_association_id: ids.addon_association, reason: 'not needed any more' },
  }),
  ListAddonsOfSubscription: (ids) => ({ path: { id: ids.addon_subscription } }),
  AddLineItem: (ids) => ({
    path: { id: ids.pausing_subscription },
    body: { price_id: ids.line_price, display_name: 'Support' },
  }),
  ChangeLineItem: (ids) => ({
    path: { id: ids.fixed_line },
    body: { display_name: 'Platform fee', metadata: { team: 'growth' } },
  }),
  EndLineItem: (ids) => ({ path: { id: ids.spare_line_item }, body: {} }),
  SearchLineItems: (ids) => ({ body: { subscription_ids: [ids.subscription], limit: 5 } }),
  PreviewModification: (ids) => ({
    path: { id: ids.modified_subscription },
    body: quantityOf(ids.modified_line_item),
  }),
  ModifySubscription: (ids) => ({
    path: { id: ids.modified_subscription },
    body: quantityOf(ids.modified_line_item),
  }),
  ReadCustomerTimeline: (ids) => ({ path: { id: ids.customer }, query: { limit: '5' } }),
  ListSchedules: (ids) => ({ path: { id: ids.scheduled_subscription } }),
  ReadSchedule: (ids) => ({ path: { id: ids.schedule } }),
  ChangePhase: (ids) => ({ path: { id: ids.phase }, body: { metadata: { campaign: 'launch' } } }),
  CancelSchedule: (ids) => ({ path: { id: ids.schedule } }),
  PauseSubscription: (ids) => ({
    path: { id: ids.pausing_subscription },
    body: { pause_mode: 'period_end', pause_days: 30, reason: 'the season is over' },
  }),
  ResumeSubscription: (ids) => ({
    path: { id: ids.paused_subscription },
    body: { resume_mode: 'immediate' },
  }),
  ActivateSubscription: (ids) => ({
    path: { id: ids.draft_subscription },
    body: { start_date: '2026-02-01T00:00:00.000Z' },
  }),
  PreviewSubscriptionChange: (ids) => ({
    path: { id: ids.changing_subscription },
    body: changeTo(ids.target_plan),
  }),
  ExecuteSubscriptionChange: (ids) => ({
    path: { id: ids.changing_subscription },
    body: changeTo(ids.target_plan),
  }),
  CreateConnection: () => ({
    body: {
      name: 'Data lake',
      provider_type: 's3',
      secrets: { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: 'an example' },
    },
  }),
  ListConnections: () => ({}),
  ReadConnection: (ids) => ({ path: { id: ids.connection } }),
  ChangeConnection: (ids) => ({ path: { id: ids.connection }, body: { name: 'Data lake 2' } }),
  RemoveConnection: (ids) => ({ path: { id: ids.spare_connection } }),
  CreateScheduledTask: (ids) => ({
    body: {
      connection_id: ids.connection,
      entity_type: 'events',
      interval: '15MIN',
      job_config: { bucket: 'example-exports', region: 'eu-central-1', compression: 'gzip' },
    },
  }),
  ListScheduledTasks: () => ({ query: { enabled: 'true' } }),
  ReadScheduledTask: (ids) => ({ path: { id: ids.scheduled_task } }),
  ChangeScheduledTask: (ids) => ({
    path: { id: ids.scheduled_task },
    body: { enabled: true },
  }),
  RemoveScheduledTask: (ids) => ({ path: { id: ids.spare_scheduled_task } }),
  RunScheduledTask: (ids) => ({ path: { id: ids.scheduled_task }, body: {} }),
  ListTasks: () => ({ query: { task_status: 'PENDING' } }),
  ReadTask: (ids) => ({ path: { id: ids.task } }),
  DownloadTask: (ids) => ({ path: { id: ids.done_task } }),
  LinkEntity: (ids) => ({
    body: {
      entity_type: 'subscription',
      entity_id: ids.subscription,
      provider_type: 'erp',
      provider_entity_id: 'S-10023',
    },
  }),
  UnlinkEntity: (ids) => ({
    body: {
      entity_type: 'customer',
      entity_id: ids.linked_customer,
      provider_type: 'erp',
      provider_entity_id: ids.linked_customer,
    },
  }),
  ListMappings: () => ({ query: { entity_type: 'customer' } }),
  TakeSubscriptionSignal: (ids) => ({
    body: {
      signal_id: 'evt_1',
      state: 'active',
      subscription_id: ids.subscription,
      occurred_at: '2026-01-20T10:00:00Z',
    },
  }),
  SyncInvoice: (ids) => ({
    path: { invoice_id: ids.synced_invoice },
    body: { connection_id: ids.invoice_connection, method: 'pull' },
  }),
  CreateWebhookEndpoint: () => ({ body: { url: 'http://127.0.0.1:9/hook' } }),
  ListWebhookEndpoints: () => ({}),
  ReadWebhookEndpoint: (ids) => ({ path: { id: ids.webhook_endpoint } }),
  ChangeWebhookEndpoint: (ids) => ({
    path: { id: ids.webhook_endpoint },
    body: { description: 'Ledger' },
  }),
  RemoveWebhookEndpoint: (ids) => ({ path: { id: ids.spare_webhook_endpoint } }),
  RotateWebhookSecret: (ids) => ({ path: { id: ids.webhook_endpoint } }),
  TestWebhookEndpoint: (ids) => ({ path: { id: ids.webhook_endpoint }, body: {} }),
  ListWebhookDeliveries: (ids) => ({ query: { endpoint_id: ids.webhook_endpoint } }),
  ReadWebhookDelivery: (ids) => ({ path: { id: ids.webhook_delivery } }),
  ResendWebhookDelivery: (ids) => ({ path: { id: ids.webhook_delivery } }),
  RetryWebhook: (ids) => ({ body: { system_event_id: ids.webhook_event } }),
  ListTestClocks: () => ({}),
  CreateTestClock: () => ({ body: { now: '2026-01-20T10:00:00.000Z' } }),
  ReadTestClock: (ids) => ({ path: { id: ids.test_clock } }),
  AdvanceTestClock: (ids) => ({
    path: { id: ids.test_clock },
    body: { now: '2026-01-21T00:00:00.000Z' },
  }),
  RemoveTestClock: (ids) => ({ path: { id: ids.test_clock } }),
  RecordPayment: (ids) => ({ path: { id: ids.payable }, body: { amount: '1.50' } }),
  AttemptPayment: (ids) => ({ path: { id: ids.attempted } }),
  CreatePayment: (ids) => ({
    body: {
      destination_type: 'INVOICE',
      destination_id: ids.payable,
      amount: '12.00',
      payment_method_type: 'OFFLINE',
      currency: 'usd',
      process_payment: true,
    },
  }),
  ListPayments: (ids) => ({ query: { destination_id: ids.payable, limit: '1' } }),
  ReadPayment: (ids) => ({ path: { id: ids.payment } }),
  ChangePayment: (ids) => ({
    path: { id: ids.payment },
    body: { payment_status: 'SUCCEEDED', metadata: { statement: '42' } },
  }),
  ProcessPayment: (ids) => ({ path: { id: ids.processed_payment } }),
  RemovePayment: (ids) => ({ path: { id: ids.spare_payment } }),
  CreateCreditNote: (ids) => ({
    body: {
      invoice_id: ids.payable,
      reason: 'SERVICE_ISSUE',
      memo: 'Two days without service',
      line_items: [{ invoice_line_item_id: ids.payable_line, amount: '4.00' }],
    },
  }),
  ListCreditNotes: (ids) => ({ query: { invoice_id: ids.payable, limit: '1' } }),
  ReadCreditNote: (ids) => ({ path: { id: ids.credit_note } }),
  PrintCreditNote: (ids) => ({ path: { id: ids.credit_note } }),
  FinalizeCreditNote: (ids) => ({ path: { id: ids.draft_note } }),
  VoidCreditNote: (ids) => ({ path: { id: ids.spare_note } }),
  CreateWallet: (ids) => ({
    body: {
      customer_id: ids.customer,
      currency: 'eur',
      name: 'Prepaid euros',
      initial_credits_to_load: '100',
    },
  }),
  SearchWallets: (ids) => ({ body: { customer_ids: [ids.customer], limit: 1 } }),
  SearchTransactions: (ids) => ({ body: { wallet_id: ids.wallet, limit: 1 } }),
  ReadWallet: (ids) => ({ path: { id: ids.wallet } }),
  ChangeWallet: (ids) => ({ path: { id: ids.wallet }, body: { name: 'Prepaid of the year' } }),
  ReadRealTimeBalance: (ids) => ({ path: { id: ids.wallet } }),
  ListTransactions: (ids) => ({ path: { id: ids.wallet }, query: { limit: '1' } }),
  TopUpWallet: (ids) => ({
    path: { id: ids.wallet },
    body: { amount: '25', transaction_reason: 'PURCHASED_CREDIT_DIRECT' },
  }),
  DebitWallet: (ids, suffix) => ({
    path: { id: ids.wallet },
    body: { credits: '3', idempotency_key: `order-4711${suffix}` },
  }),
  TerminateWallet: (ids) => ({ path: { id: ids.closing_wallet } }),
  ModifyWallet: (ids) => ({
    path: { id: ids.modified_wallet },
    body: { modification_type: 'prepaid_to_postpaid' },
  }),
  ListCustomerWallets: (ids) => ({ path: { id: ids.customer } }),
  SummarizeInvoices: (ids) => ({ path: { id: ids.customer } }),
  ReadBalances: () => ({ query: { currency: 'usd' } }),
  SearchPostings: (ids) => ({ body: { entity_id: ids.payable } }),
  VerifyBooks: () => ({}),
};
