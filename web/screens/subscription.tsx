import { call, may, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { Facts, Section, Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { Amount, Id, Period, Quantity, State, stateText, When } from '../parts/values.js';
import { t } from '../words/words.js';
import { LatestInvoices } from './invoices.js';
import { AddonsOf } from './addon-wizards.js';
import { SubscriptionOffers, SubscriptionWizard } from './subscription-wizards.js';

type Subscription = Schemas['ExpandedSubscriptionDto'];
type OfSubscription = { readonly subscription: Subscription };

function Details({ subscription }: OfSubscription) {
  const zone = subscription.customer_timezone;
  return (
    <Facts
      of={[
        [
          t('customer'),
          <Id
            id={subscription.customer_id}
            text={subscription.customer?.name ?? subscription.customer_id}
          />,
        ],
        [t('state'), <State of={subscription.subscription_status} />],
        [
          t('plan'),
          <Id id={subscription.plan_id} text={subscription.plan?.name ?? subscription.plan_id} />,
        ],
        [
          t('period'),
          <Period
            start={subscription.current_period_start}
            end={subscription.current_period_end}
            zone={zone}
          />,
        ],
        [t('cadence'), stateText(subscription.billing_period)],
        [t('since'), <When at={subscription.start_date} zone={zone} precision="day" />],
        [t('ends'), <When at={subscription.end_date} zone={zone} precision="day" />],
        [t('currency'), subscription.currency.toUpperCase()],
        [t('id'), <code>{subscription.id}</code>],
      ]}
    />
  );
}

function Lines({ subscription }: OfSubscription) {
  const zone = subscription.customer_timezone;
  return (
    <Section title={t('lines')}>
      <Table
        caption={t('lines')}
        rows={subscription.line_items ?? []}
        keyOf={({ id }) => id}
        columns={[
          { name: t('line'), cell: ({ display_name: name }) => name },
          { name: t('kind'), cell: ({ price_type: type }) => stateText(type) },
          { name: t('when_billed'), cell: ({ invoice_cadence: when }) => stateText(when) },
          {
            name: t('quantity'),
            isNumber: true,
            cell: ({ quantity }) => <Quantity text={quantity} />,
          },
          {
            name: t('price'),
            isNumber: true,
            cell: ({ price, currency }) =>
              price?.amount === null || price?.amount === undefined ? (
                '–'
              ) : (
                <Amount text={price.amount} currency={currency} />
              ),
          },
          {
            name: t('since'),
            cell: ({ start_date: at }) => <When at={at} zone={zone} precision="day" />,
          },
        ]}
      />
    </Section>
  );
}

function Usage({ subscription: { id } }: OfSubscription) {
  const found = useLoad(`usage of ${id}`, () =>
    call('POST', '/subscriptions/usage', { body: { subscription_id: id } }),
  );
  return (
    <Section title={t('usage_now')}>
      <Show of={found}>
        {({ charges, amount, currency }) => (
          <>
            <Table
              caption={t('usage_now')}
              rows={charges}
              keyOf={(each) => `${each.subscription_line_item_id} ${String(each.is_overage)}`}
              empty={t('no_usage')}
              columns={[
                {
                  name: t('meter'),
                  cell: (each) => each.meter_display_name ?? each.meter_id ?? '–',
                },
                {
                  name: t('quantity'),
                  isNumber: true,
                  cell: ({ quantity }) => <Quantity text={quantity} />,
                },
                {
                  name: t('amount'),
                  isNumber: true,
                  cell: (each) => <Amount text={each.amount} currency={each.currency} />,
                },
              ]}
            />
            <dl class="sums">
              <div>
                <dt>{t('total')}</dt>
                <dd>
                  <Amount text={amount} currency={currency} />
                </dd>
              </div>
            </dl>
          </>
        )}
      </Show>
    </Section>
  );
}

export function SubscriptionScreen({ id = '' }: { id?: string }) {
  const found = useLoad(`subscription ${id}`, () =>
    call('GET', '/subscriptions/{id}', { path: { id } }),
  );
  return (
    <Show of={found}>
      {(subscription) => (
        <>
          <Title of={`${t('subscription')} ${subscription.plan?.name ?? ''}`}>
            <SubscriptionOffers subscription={subscription} />
          </Title>
          <SubscriptionWizard subscription={subscription} />
          <Details subscription={subscription} />
          <Lines subscription={subscription} />
          <Usage subscription={subscription} />
          {may('GET', '/subscriptions/{id}/addons/associations') && (
            <AddonsOf subscription={subscription} />
          )}
          <LatestInvoices of="subscription" id={subscription.id} />
        </>
      )}
    </Show>
  );
}
