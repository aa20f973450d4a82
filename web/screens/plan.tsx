import { call, may, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { Act } from '../parts/act.js';
import { given } from '../parts/form.js';
import { Facts, Section, Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { Quantity, When, choicesOf, stateText } from '../parts/values.js';
import { t } from '../words/words.js';
import { Prices, type Owner } from './prices.js';

type OfOwner = { owner: Owner };

const RESETS = [
  'NEVER',
  'MONTHLY',
  'DAILY',
  'WEEKLY',
  'QUARTERLY',
  'HALF_YEARLY',
  'ANNUAL',
] as const;

function AddEntitlement({ owner }: OfOwner) {
  const features = useLoad('features to allow', () =>
    call('POST', '/features/search', { body: { limit: 200 } }),
  );
  if (features.state !== 'ready' || features.value.items.length === 0) return null;
  const { items } = features.value;
  return (
    <Act
      name="add_entitlement"
      ask="ask_entitlement"
      fields={[
        { name: 'feature', label: 'feature', choices: items.map(({ id, name }) => [id, name]) },
        { name: 'limit', label: 'allowed', isOptional: true },
        {
          name: 'reset',
          label: 'begins_again',
          isOptional: true,
          choices: choicesOf(RESETS),
        },
        { name: 'text', label: 'value', isOptional: true },
      ]}
      send={async ({ feature = '', limit = '', reset, text = '' }) => {
        const period = RESETS.find((each) => each === reset);
        await call('POST', '/entitlements', {
          body: {
            feature_id: feature,
            entity_type: owner.type,
            entity_id: owner.id,
            ...(limit === '' ? {} : { usage_limit: Number.parseInt(limit, 10) }),
            ...(period === undefined ? {} : { usage_reset_period: period }),
            ...(text === '' ? {} : { static_value: text }),
          },
        });
      }}
    />
  );
}

const readEntitlements = ({ type, id }: Owner) =>
  type === 'PLAN'
    ? call('GET', '/plans/{id}/entitlements', { path: { id }, query: { limit: 200 } })
    : call('GET', '/addons/{id}/entitlements', { path: { id }, query: { limit: 200 } });

function allowedText({ is_enabled: isOn, ...of }: Schemas['ExpandedEntitlementDto']) {
  if (of.feature_type === 'boolean') return isOn ? t('yes') : t('no');
  if (of.feature_type === 'static') return of.static_value ?? '–';
  const { usage_limit: limit } = of;
  return limit === null ? t('unlimited') : <Quantity text={String(limit)} />;
}

function Entitlements({ owner }: OfOwner) {
  const found = useLoad(`entitlements of ${owner.id}`, () => readEntitlements(owner));
  const add = may('POST', '/entitlements') && <AddEntitlement owner={owner} />;
  return (
    <Section title={t('features')} actions={add}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('features')}
            rows={items}
            keyOf={({ id }) => id}
            empty={t('no_features')}
            columns={[
              { name: t('feature'), cell: ({ feature, feature_id: id }) => feature?.name ?? id },
              { name: t('kind'), cell: ({ feature_type: type }) => stateText(type) },
              {
                name: t('begins_again'),
                cell: ({ usage_reset_period: period }) =>
                  period === null ? '–' : stateText(period),
              },
              { name: t('allowed'), isNumber: true, cell: allowedText },
              {
                name: t('actions'),
                isAction: true,
                cell: ({ id }) =>
                  may('DELETE', '/entitlements/{id}') ? (
                    <Act
                      name="remove"
                      of={id}
                      ask="ask_remove_entitlement"
                      send={async () => {
                        await call('DELETE', '/entitlements/{id}', { path: { id } });
                      }}
                    />
                  ) : null,
              },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

type Named = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly lookup_key: string | null;
  readonly created_at: string;
};

function Details({ of }: { of: Named }) {
  return (
    <Facts
      of={[
        [t('id'), <code>{of.id}</code>],
        [t('lookup_key'), <code>{of.lookup_key ?? '–'}</code>],
        [t('description'), of.description ?? '–'],
        [t('created'), <When at={of.created_at} />],
      ]}
    />
  );
}

const nameFields = ({ name, description }: Named) =>
  [
    { name: 'name', label: 'name', value: name },
    { name: 'description', label: 'description', isOptional: true, value: description ?? '' },
  ] as const;

function PlanActs({ plan }: { plan: Named }) {
  const path = { id: plan.id };
  return (
    <>
      {may('PUT', '/plans/{id}') && (
        <Act
          name="edit"
          fields={nameFields(plan)}
          send={async (answers) => {
            const body = given(answers, ['name', 'description']);
            await call('PUT', '/plans/{id}', { path, body });
          }}
        />
      )}
      {may('POST', '/plans/{id}/sync/subscriptions') && (
        <Act
          name="sync_prices"
          ask="ask_sync_prices"
          send={async () => {
            await call('POST', '/plans/{id}/sync/subscriptions', { path });
          }}
        />
      )}
      {may('DELETE', '/plans/{id}') && (
        <Act
          name="archive"
          ask="ask_archive_plan"
          send={async () => {
            await call('DELETE', '/plans/{id}', { path });
          }}
        />
      )}
    </>
  );
}

export function PlanScreen({ id = '' }: { id?: string }) {
  const found = useLoad(`plan ${id}`, () => call('GET', '/plans/{id}', { path: { id } }));
  const owner = { type: 'PLAN', id } as const;
  return (
    <Show of={found}>
      {(plan) => (
        <>
          <Title of={`${t('plan')} ${plan.name}`}>
            <PlanActs plan={plan} />
          </Title>
          <Details of={plan} />
          <Prices owner={owner} />
          {may('GET', '/plans/{id}/entitlements') && <Entitlements owner={owner} />}
        </>
      )}
    </Show>
  );
}

export function AddonScreen({ id = '' }: { id?: string }) {
  const found = useLoad(`addon ${id}`, () => call('GET', '/addons/{id}', { path: { id } }));
  const owner = { type: 'ADDON', id } as const;
  return (
    <Show of={found}>
      {(addon) => (
        <>
          <Title of={`${t('addon')} ${addon.name}`}>
            {may('PUT', '/addons/{id}') && (
              <Act
                name="edit"
                fields={nameFields(addon)}
                send={async (answers) => {
                  const body = given(answers, ['name', 'description']);
                  await call('PUT', '/addons/{id}', { path: { id }, body });
                }}
              />
            )}
          </Title>
          <Details of={addon} />
          <Prices owner={owner} />
          {may('GET', '/addons/{id}/entitlements') && <Entitlements owner={owner} />}
        </>
      )}
    </Show>
  );
}
