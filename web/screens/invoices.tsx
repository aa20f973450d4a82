import { call, client, may, type Schemas } from '../data/api.js';
import { finalizeAll } from '../data/finalizing.js';
import { reload, useLoad } from '../data/load.js';
import { place } from '../app/router.js';
import { Act } from '../parts/act.js';
import { FinalizingProgress } from '../parts/finalizing-progress.js';
import { Filter, given, TextFilter } from '../parts/form.js';
import { Section, Show } from '../parts/states.js';
import { CsvButton, pageOfAddress, Pages, Table, type Column } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { Amount, Id, Period, State, To, choicesOf } from '../parts/values.js';
import { groupDigits } from '../words/digits.js';
import { t } from '../words/words.js';

type Invoice = Schemas['InvoiceDto'];
type Search = Schemas['SearchInvoicesBody'];

const STATES = ['DRAFT', 'FINALIZED', 'VOIDED', 'SKIPPED'] as const;
const PAYMENTS = ['PENDING', 'SUCCEEDED', 'FAILED', 'OVERPAID', 'REFUNDED'] as const;

/** The value of a list that a text of the address names; none when it is not there. */
function oneOf<T extends string>(values: readonly T[], text: string | undefined): readonly T[] {
  return values.filter((value) => value === text);
}

/** The search that the filters of the address mean. */
function searchOfAddress(): Search {
  const { status, payment, number = '', currency = '', ...query } = place.value.query;
  const { customer = '', subscription = '' } = query;
  const named = {
    customer_id: customer,
    subscription_id: subscription,
    currency: currency.toLowerCase(),
  };
  const states = oneOf(STATES, status);
  const payments = oneOf(PAYMENTS, payment);
  const byNumber = {
    field: 'invoice_number',
    operator: 'contains' as const,
    data_type: 'string' as const,
    value: { string: number },
  };
  return {
    skip_line_items: true,
    expand: 'customer,subscription',
    ...(states.length === 0 ? {} : { invoice_status: [...states] }),
    ...(payments.length === 0 ? {} : { payment_status: [...payments] }),
    ...given(named, ['customer_id', 'subscription_id', 'currency']),
    ...(number === '' ? {} : { filters: [byNumber] }),
  };
}

/** The zone in which its period begins and ends: that of the subscription. */
export const zoneOf = ({ customer, subscription }: Invoice): string | null =>
  subscription?.customer_timezone ?? customer?.timezone ?? null;

export const invoiceColumns = (isOfOneCustomer = false): readonly Column<Invoice>[] => [
  {
    name: t('invoice'),
    cell: ({ id, invoice_number: number }) => (
      <To pattern="/invoices/:id" names={{ id: id ?? '' }}>
        {number ?? t('draft')}
      </To>
    ),
  },
  ...(isOfOneCustomer
    ? []
    : [
        {
          name: t('customer'),
          cell: ({ customer, customer_id: id }: Invoice) => (
            <Id id={id} text={customer?.name ?? id} />
          ),
        },
      ]),
  {
    name: t('period'),
    cell: (invoice) => (
      <Period start={invoice.period_start} end={invoice.period_end} zone={zoneOf(invoice)} />
    ),
  },
  { name: t('state'), cell: ({ invoice_status: state }) => <State of={state} /> },
  { name: t('payment'), cell: ({ payment_status: state }) => <State of={state} /> },
  {
    name: t('total'),
    isNumber: true,
    cell: ({ total, currency }) => <Amount text={total} currency={currency} />,
  },
  {
    name: t('remaining'),
    isNumber: true,
    cell: ({ amount_remaining: text, currency }) => <Amount text={text} currency={currency} />,
  },
];

const HEADS = [
  'id',
  'invoice_number',
  'customer_id',
  'invoice_status',
  'payment_status',
  'period_start',
  'period_end',
  'currency',
  'total',
  'amount_remaining',
];

async function* allInvoices(): AsyncGenerator<readonly (string | null)[]> {
  const body = searchOfAddress();
  for await (const each of client().each('POST', '/invoices/search', { body })) {
    yield [
      each.id,
      each.invoice_number,
      each.customer_id,
      each.invoice_status,
      each.payment_status,
      each.period_start,
      each.period_end,
      each.currency,
      each.total,
      each.amount_remaining,
    ];
  }
}

function Filters() {
  const choices = (states: readonly string[]) => choicesOf(states);
  return (
    <div class="filters">
      <Filter label={t('state')} name="status" choices={choices(STATES)} />
      <Filter label={t('payment')} name="payment" choices={choices(PAYMENTS)} />
      <TextFilter label={t('invoice_number')} name="number" />
      <TextFilter label={t('customer_id')} name="customer" />
      <TextFilter label={t('currency')} name="currency" />
      <TextFilter label={t('subscription_id')} name="subscription" />
    </div>
  );
}

/** The address shows drafts alone. */
const isOfDrafts = (): boolean => place.value.query['status'] === 'DRAFT';

export function Invoices() {
  const page = pageOfAddress();
  const body = { ...searchOfAddress(), ...page };
  const found = useLoad(`invoices ${JSON.stringify(body)} ${place.value.environmentId}`, () =>
    call('POST', '/invoices/search', { body }),
  );
  return (
    <>
      <Title of={t('invoices')}>
        {isOfDrafts() && may('POST', '/invoices/{id}/finalize') && (
          <Act
            name="finalize_all"
            ask="ask_finalize_all"
            send={async () => {
              // It goes on while other screens are looked at.
              void finalizeAll(searchOfAddress()).then(reload);
            }}
          />
        )}
        <CsvButton name="invoices" heads={HEADS} rows={allInvoices} />
      </Title>
      <FinalizingProgress />
      <Filters />
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('invoices')}
              columns={invoiceColumns()}
              rows={items}
              keyOf={({ id }) => id ?? ''}
              empty={t('no_invoices')}
            />
            <Pages total={pagination.total} offset={page.offset} />
          </>
        )}
      </Show>
    </>
  );
}

/** The latest invoices of a customer or a subscription, and the way to all of them. */
export function LatestInvoices({ of, id }: { of: 'customer' | 'subscription'; id: string }) {
  const whose = of === 'customer' ? { customer_id: id } : { subscription_id: id };
  const found = useLoad(`invoices of ${id}`, () =>
    call('POST', '/invoices/search', {
      body: { ...whose, limit: 10, skip_line_items: true, expand: 'customer,subscription' },
    }),
  );
  return (
    <Section title={t('invoices')}>
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('invoices')}
              columns={invoiceColumns(true)}
              rows={items}
              keyOf={(each) => each.id ?? ''}
              empty={t('no_invoices')}
            />
            {pagination.total > items.length && (
              <p>
                <To pattern="/invoices" query={{ [of]: id }}>
                  {t('all_of', { count: groupDigits(String(pagination.total)) })}
                </To>
              </p>
            )}
          </>
        )}
      </Show>
    </Section>
  );
}
