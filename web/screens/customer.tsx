import { call, may, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { Facts, Section, Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { Amount, Id, Period, Quantity, State, To, When } from '../parts/values.js';
import { t } from '../words/words.js';
import { CustomerActs } from './customer-acts.js';
import { CustomerHistory } from './customer-history.js';
import { LatestInvoices } from './invoices.js';

type Customer = Schemas['CustomerDto'];
type OfCustomer = { readonly customer: Customer };

function Balance({ customer: { id } }: OfCustomer) {
  const path = { id };
  const summary = useLoad(`summary ${id}`, () =>
    call('GET', '/customers/{id}/invoices/summary', { path }),
  );
  return (
    <Section title={t('balance')}>
      <Show of={summary}>
        {({ items }) => (
          <Table
            caption={t('balance')}
            rows={items}
            keyOf={({ currency }) => currency}
            empty={t('no_invoices')}
            columns={[
              { name: t('currency'), cell: ({ currency }) => currency.toUpperCase() },
              {
                name: t('revenue'),
                isNumber: true,
                cell: ({ total_revenue: text, currency }) => (
                  <Amount text={text} currency={currency} />
                ),
              },
              {
                name: t('unpaid'),
                isNumber: true,
                cell: ({ total_unpaid: text, currency }) => (
                  <Amount text={text} currency={currency} />
                ),
              },
              {
                name: t('overdue'),
                isNumber: true,
                cell: ({ total_overdue: text, currency }) => (
                  <Amount text={text} currency={currency} />
                ),
              },
              {
                name: t('wallets'),
                isNumber: true,
                cell: ({ wallet_balance: text, currency }) => (
                  <Amount text={text} currency={currency} />
                ),
              },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

function Subscriptions({ customer: { id, timezone } }: OfCustomer) {
  const body = { customer_id: id, limit: 50, expand: 'plan' };
  const found = useLoad(`subscriptions ${id}`, () =>
    call('POST', '/subscriptions/search', { body }),
  );
  return (
    <Section title={t('subscriptions')}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('subscriptions')}
            rows={items}
            keyOf={(each) => each.id}
            empty={t('no_subscriptions')}
            columns={[
              {
                name: t('plan'),
                cell: ({ id: subscription, plan, plan_id: planId }) => (
                  <To pattern="/subscriptions/:id" names={{ id: subscription }}>
                    {plan?.name ?? planId}
                  </To>
                ),
              },
              { name: t('state'), cell: ({ subscription_status: state }) => <State of={state} /> },
              {
                name: t('period'),
                cell: ({ current_period_start: start, current_period_end: end }) => (
                  <Period start={start} end={end} zone={timezone} />
                ),
              },
              { name: t('currency'), cell: ({ currency }) => currency.toUpperCase() },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

function Wallets({ customer: { id } }: OfCustomer) {
  const found = useLoad(`wallets of ${id}`, () =>
    call('GET', '/customers/{id}/wallets', { path: { id } }),
  );
  return (
    <Section title={t('wallets')}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('wallets')}
            rows={items}
            keyOf={(each) => each.id}
            empty={t('no_wallets')}
            columns={[
              {
                name: t('wallet'),
                cell: (each) => <Id id={each.id} text={each.name ?? each.id} />,
              },
              { name: t('state'), cell: ({ wallet_status: state }) => <State of={state} /> },
              {
                name: t('settled'),
                isNumber: true,
                cell: ({ balance, currency }) => <Amount text={balance} currency={currency} />,
              },
              {
                name: t('available_now'),
                isNumber: true,
                cell: ({ real_time_balance: text, currency }) => (
                  <Amount text={text} currency={currency} />
                ),
              },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

function Usage({ customer: { id } }: OfCustomer) {
  const found = useLoad(`usage of ${id}`, () =>
    call('GET', '/customers/usage', { query: { customer_id: id } }),
  );
  return (
    <Section title={t('usage_now')}>
      <Show of={found}>
        {({ features }) => (
          <Table
            caption={t('usage_now')}
            rows={features}
            keyOf={({ feature }) => feature.id}
            empty={t('no_features')}
            columns={[
              { name: t('feature'), cell: ({ feature }) => feature.name },
              {
                name: t('used'),
                isNumber: true,
                cell: ({ current_usage: text }) => <Quantity text={text} />,
              },
              {
                name: t('allowed'),
                isNumber: true,
                cell: ({ total_limit: limit, is_unlimited: isUnlimited }) =>
                  isUnlimited ? t('unlimited') : <Quantity text={limit} />,
              },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

function Details({ customer }: OfCustomer) {
  const { address_line1: line, address_postal_code: code, address_city: city } = customer;
  const address = [line, code, city, customer.address_country].filter((part) => part !== null);
  return (
    <Facts
      of={[
        [t('id'), <code>{customer.id}</code>],
        [t('external_id'), <code>{customer.external_id}</code>],
        [t('email'), customer.email ?? '–'],
        [t('address'), address.length === 0 ? '–' : address.join(', ')],
        [t('zone'), customer.timezone ?? 'UTC'],
        [t('created'), <When at={customer.created_at} zone={customer.timezone} />],
      ]}
    />
  );
}

export function CustomerScreen({ id = '' }: { id?: string }) {
  const found = useLoad(`customer ${id}`, () => call('GET', '/customers/{id}', { path: { id } }));
  return (
    <Show of={found}>
      {(customer) => (
        <>
          <Title of={customer.name === '' ? customer.external_id : customer.name}>
            <CustomerActs customer={customer} />
          </Title>
          <Details customer={customer} />
          <Balance customer={customer} />
          <LatestInvoices of="customer" id={customer.id} />
          {may('POST', '/subscriptions/search') && <Subscriptions customer={customer} />}
          {may('GET', '/customers/usage') && <Usage customer={customer} />}
          {may('GET', '/customers/{id}/wallets') && <Wallets customer={customer} />}
          <CustomerHistory customer={customer} />
        </>
      )}
    </Show>
  );
}
