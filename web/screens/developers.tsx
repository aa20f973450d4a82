import { place } from '../app/router.js';
import { call, may } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { Section, Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { State, When } from '../parts/values.js';
import { t } from '../words/words.js';

function Keys() {
  const found = useLoad(`keys ${place.value.environmentId}`, () =>
    call('GET', '/secrets/api/keys', { query: { limit: 200 } }),
  );
  return (
    <Section title={t('api_keys')}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('api_keys')}
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              { name: t('name'), cell: ({ name }) => name },
              { name: t('key'), cell: ({ display_id: id }) => <code>{id}</code> },
              { name: t('kind'), cell: ({ type }) => type.replaceAll('_', ' ') },
              { name: t('last_used'), cell: ({ last_used_at: at }) => <When at={at} /> },
              { name: t('expires'), cell: ({ expires_at: at }) => <When at={at} /> },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

function Endpoints() {
  const found = useLoad(`endpoints ${place.value.environmentId}`, () =>
    call('GET', '/webhooks/endpoints', { query: { limit: 200 } }),
  );
  return (
    <Section title={t('endpoints')}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('endpoints')}
            rows={items}
            keyOf={({ id }) => id}
            empty={t('no_endpoints')}
            columns={[
              { name: t('address'), cell: ({ url }) => <code>{url}</code> },
              {
                name: t('state'),
                cell: ({ enabled }) => <State of={enabled ? 'enabled' : 'disabled'} />,
              },
              { name: t('reason'), cell: ({ disabled_reason: why }) => why ?? '–' },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

function Deliveries() {
  const found = useLoad(`deliveries ${place.value.environmentId}`, () =>
    call('GET', '/webhooks/deliveries', { query: { limit: 50 } }),
  );
  return (
    <Section title={t('deliveries')}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('deliveries')}
            rows={items}
            keyOf={({ id }) => id}
            empty={t('no_deliveries')}
            columns={[
              { name: t('when'), cell: ({ created_at: at }) => <When at={at} /> },
              { name: t('event'), cell: ({ event_id: id }) => <code>{id ?? '–'}</code> },
              { name: t('state'), cell: ({ delivery_status: state }) => <State of={state} /> },
              { name: t('attempts'), isNumber: true, cell: (each) => String(each.attempts.length) },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

function Jobs() {
  const found = useLoad(`jobs ${place.value.environmentId}`, () =>
    call('GET', '/jobs', { query: { status: 'parked', limit: 50 } }),
  );
  return (
    <Section title={t('work_jobs')}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('work_jobs')}
            rows={items}
            keyOf={({ id }) => id}
            empty={t('no_jobs')}
            columns={[
              { name: t('job'), cell: ({ job }) => job },
              { name: t('when'), cell: ({ parked_at: at }) => <When at={at} /> },
              { name: t('reason'), cell: ({ error }) => error ?? '–' },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

export function Developers() {
  return (
    <>
      <Title of={t('developers')} />
      <Keys />
      {may('GET', '/webhooks/endpoints') && <Endpoints />}
      {may('GET', '/webhooks/deliveries') && <Deliveries />}
      {may('GET', '/jobs') && <Jobs />}
    </>
  );
}
