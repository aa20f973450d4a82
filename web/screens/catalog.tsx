import type { ItemOf } from '../../client/api-call.js';
import { call, may } from '../data/api.js';
import { place } from '../app/router.js';
import { useLoad } from '../data/load.js';
import { Facts, Section, Show } from '../parts/states.js';
import { pageOfAddress, Pages, Table } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { Amount, State, To, When } from '../parts/values.js';
import { t } from '../words/words.js';

function Plans() {
  const page = pageOfAddress();
  const found = useLoad(`plans ${page.offset} ${place.value.environmentId}`, () =>
    call('POST', '/plans/search', { body: page }),
  );
  return (
    <Section title={t('plans')}>
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('plans')}
              rows={items}
              keyOf={({ id }) => id}
              empty={t('no_plans')}
              columns={[
                {
                  name: t('plan'),
                  cell: ({ id, name }) => (
                    <To pattern="/catalog/plans/:id" names={{ id }}>
                      {name}
                    </To>
                  ),
                },
                { name: t('lookup_key'), cell: ({ lookup_key: key }) => <code>{key ?? '–'}</code> },
                {
                  name: t('created'),
                  cell: ({ created_at: at }) => <When at={at} precision="day" />,
                },
              ]}
            />
            <Pages total={pagination.total} offset={page.offset} />
          </>
        )}
      </Show>
    </Section>
  );
}

function Meters() {
  const found = useLoad(`meters ${place.value.environmentId}`, () =>
    call('GET', '/meters', { query: { limit: 200 } }),
  );
  return (
    <Section title={t('meters')}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('meters')}
            rows={items}
            keyOf={({ id }) => id}
            empty={t('no_meters')}
            columns={[
              { name: t('meter'), cell: ({ name }) => name },
              { name: t('event_name'), cell: ({ event_name: name }) => <code>{name}</code> },
              {
                name: t('aggregation'),
                cell: ({ aggregation: { type, field } }) => [type, field ?? ''].join(' '),
              },
              { name: t('meter_version'), cell: ({ version }) => String(version) },
              { name: t('counting'), cell: ({ backfill }) => <State of={backfill.status} /> },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

export function Catalog() {
  return (
    <>
      <Title of={t('catalog')} />
      <Plans />
      {may('GET', '/meters') && <Meters />}
    </>
  );
}

type Price = ItemOf<'POST', '/prices/search'>;

function Prices({ prices }: { prices: readonly Price[] }) {
  return (
    <Table
      caption={t('prices')}
      rows={prices}
      keyOf={({ id }) => id}
      empty={t('no_prices')}
      columns={[
        { name: t('price'), cell: ({ display_name: name, id }) => name ?? <code>{id}</code> },
        { name: t('kind'), cell: ({ type }) => type.toLowerCase() },
        { name: t('price_model'), cell: ({ billing_model: model }) => model.toLowerCase() },
        { name: t('cadence'), cell: ({ billing_period: period }) => period.toLowerCase() },
        { name: t('since'), cell: ({ start_date: at }) => <When at={at} precision="day" /> },
        { name: t('ends'), cell: ({ end_date: at }) => <When at={at} precision="day" /> },
        {
          name: t('amount'),
          isNumber: true,
          cell: ({ amount, currency, tiers }) =>
            amount === null ? (
              t('tiers_of', { count: String(tiers?.length ?? 0) })
            ) : (
              <Amount text={amount} currency={currency} />
            ),
        },
      ]}
    />
  );
}

export function PlanScreen({ id = '' }: { id?: string }) {
  const found = useLoad(`plan ${id}`, () => call('GET', '/plans/{id}', { path: { id } }));
  const body = { plan_ids: [id], limit: 200 };
  const prices = useLoad(`prices of ${id}`, () => call('POST', '/prices/search', { body }));
  return (
    <Show of={found}>
      {(plan) => (
        <>
          <Title of={`${t('plan')} ${plan.name}`} />
          <Facts
            of={[
              [t('id'), <code>{plan.id}</code>],
              [t('lookup_key'), <code>{plan.lookup_key ?? '–'}</code>],
              [t('description'), plan.description ?? '–'],
              [t('created'), <When at={plan.created_at} />],
            ]}
          />
          <Section title={t('prices')}>
            <Show of={prices}>{({ items }) => <Prices prices={items} />}</Show>
          </Section>
        </>
      )}
    </Show>
  );
}
