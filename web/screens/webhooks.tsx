import { useState } from 'preact/hooks';
import type { ItemOf } from '../../client/api-call.js';
import { place } from '../app/router.js';
import { call, may } from '../data/api.js';
import { reload, useAction, useLoad } from '../data/load.js';
import { Act } from '../parts/act.js';
import { Filter, given } from '../parts/form.js';
import { Secret } from '../parts/secret.js';
import { Failure, Section, Show } from '../parts/states.js';
import { pageOfAddress, Pages, Table } from '../parts/table.js';
import { State, When, choicesOf } from '../parts/values.js';
import { groupDigits } from '../words/digits.js';
import { t } from '../words/words.js';

type Endpoint = ItemOf<'GET', '/webhooks/endpoints'>;
type ActsProps = { endpoint: Endpoint; tell: (secret: string) => void };

const typesOf = (text: string): string[] => text.split(/[\s,]+/).filter((part) => part !== '');

/** Switches an endpoint on or off; what waits for it is delivered once it is on again. */
function SwitchAct({ endpoint }: Omit<ActsProps, 'tell'>) {
  const { id, enabled } = endpoint;
  return (
    <Act
      name={enabled ? 'switch_off' : 'switch_on'}
      of={id}
      ask={enabled ? 'ask_switch_off' : 'ask_switch_on'}
      send={async () => {
        await call('PUT', '/webhooks/endpoints/{id}', {
          path: { id },
          body: { enabled: !enabled },
        });
      }}
    />
  );
}

function RotateAct({ id, tell }: { id: string; tell: (secret: string) => void }) {
  const path = { id };
  if (!may('POST', '/webhooks/endpoints/{id}/rotate_secret')) return null;
  return (
    <Act
      name="rotate_secret"
      of={id}
      ask="ask_rotate_secret"
      send={async () => {
        tell((await call('POST', '/webhooks/endpoints/{id}/rotate_secret', { path })).secret);
      }}
    />
  );
}

function EndpointActs({ endpoint, tell }: ActsProps) {
  const { id } = endpoint;
  const path = { id };
  return (
    <span class="buttons">
      {may('POST', '/webhooks/endpoints/{id}/test') && (
        <Act
          name="send_test"
          of={id}
          ask="ask_send_test"
          send={async () => {
            await call('POST', '/webhooks/endpoints/{id}/test', { path, body: {} });
          }}
        />
      )}
      {may('PUT', '/webhooks/endpoints/{id}') && <SwitchAct endpoint={endpoint} />}
      {may('PUT', '/webhooks/endpoints/{id}') && (
        <Act
          name="edit"
          of={id}
          fields={[
            { name: 'url', label: 'address', value: endpoint.url },
            {
              name: 'types',
              label: 'event_types',
              isOptional: true,
              value: (endpoint.event_types ?? []).join(' '),
            },
          ]}
          send={async (answers) => {
            const body = {
              ...given(answers, ['url']),
              event_types: typesOf(answers['types'] ?? ''),
            };
            await call('PUT', '/webhooks/endpoints/{id}', { path, body });
          }}
        />
      )}
      <RotateAct id={id} tell={tell} />
      {may('DELETE', '/webhooks/endpoints/{id}') && (
        <Act
          name="remove"
          of={id}
          ask="ask_remove_endpoint"
          send={async () => {
            await call('DELETE', '/webhooks/endpoints/{id}', { path });
          }}
        />
      )}
    </span>
  );
}

export function Endpoints() {
  const [secret, tell] = useState<string | null>(null);
  const found = useLoad(`endpoints ${place.value.environmentId}`, () =>
    call('GET', '/webhooks/endpoints', { query: { limit: 200 } }),
  );
  const make = may('POST', '/webhooks/endpoints') && (
    <Act
      name="make_endpoint"
      ask="ask_endpoint"
      fields={[
        { name: 'url', label: 'address', value: 'https://' },
        { name: 'types', label: 'event_types', isOptional: true },
        { name: 'description', label: 'description', isOptional: true },
      ]}
      send={async (answers) => {
        const { url = '', types = '' } = answers;
        const named = types === '' ? {} : { event_types: typesOf(types) };
        const body = { url, ...named, ...given(answers, ['description']) };
        tell((await call('POST', '/webhooks/endpoints', { body })).secret);
      }}
    />
  );
  return (
    <Section title={t('endpoints')} actions={make}>
      {secret !== null && <Secret text={secret} close={() => tell(null)} />}
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
              {
                name: t('event_types'),
                cell: ({ event_types: types }) => (types ?? []).join(', '),
              },
              {
                name: t('actions'),
                isAction: true,
                cell: (endpoint) => <EndpointActs endpoint={endpoint} tell={tell} />,
              },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

type Delivery = ItemOf<'GET', '/webhooks/deliveries'>;

function Resend({ delivery }: { delivery: Delivery }) {
  const resending = useAction(async () => {
    await call('POST', '/webhooks/deliveries/{id}/resend', { path: { id: delivery.id } });
    reload();
  });
  return (
    <>
      <button type="button" data-writes disabled={resending.isRunning} onClick={resending.run}>
        {t('resend')}
      </button>
      <Failure error={resending.error} />
    </>
  );
}

/** What the last attempt of a delivery was answered. */
function Outcome({ of: { attempts } }: { of: Delivery }) {
  const last = attempts.at(-1);
  if (last === undefined) return <>–</>;
  const { status_code: code, error, response_excerpt: excerpt } = last;
  return <span title={excerpt ?? ''}>{error ?? (code === null ? '–' : String(code))}</span>;
}

const STATES = ['pending', 'delivered', 'failed', 'skipped'] as const;

export function Deliveries() {
  const page = pageOfAddress();
  const state = STATES.find((each) => each === place.value.query['status']);
  const query = { ...page, ...(state === undefined ? {} : { status: state }) };
  const found = useLoad(`deliveries ${JSON.stringify(query)} ${place.value.environmentId}`, () =>
    call('GET', '/webhooks/deliveries', { query }),
  );
  const choices = choicesOf(STATES);
  return (
    <Section title={t('deliveries')}>
      <div class="filters">
        <Filter label={t('state')} name="status" choices={choices} />
      </div>
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('deliveries')}
              rows={items}
              keyOf={({ id }) => id}
              empty={t('no_deliveries')}
              columns={[
                {
                  name: t('when'),
                  cell: ({ created_at: at }) => <When at={at} precision="second" />,
                },
                { name: t('event'), cell: ({ event_id: id }) => <code>{id ?? '–'}</code> },
                { name: t('state'), cell: ({ delivery_status: each }) => <State of={each} /> },
                { name: t('answer'), cell: (delivery) => <Outcome of={delivery} /> },
                { name: t('next_attempt'), cell: ({ next_attempt_at: at }) => <When at={at} /> },
                {
                  name: t('attempts'),
                  isNumber: true,
                  cell: ({ attempts }) => groupDigits(String(attempts.length)),
                },
                {
                  name: t('actions'),
                  isAction: true,
                  cell: (delivery) =>
                    may('POST', '/webhooks/deliveries/{id}/resend') ? (
                      <Resend delivery={delivery} />
                    ) : null,
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
