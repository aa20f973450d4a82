import { goTo, place } from '../app/router.js';
import { call, may, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { Act } from '../parts/act.js';
import { given, type Answers } from '../parts/form.js';
import { Section, Show } from '../parts/states.js';
import { pageOfAddress, Pages, Table, type Column } from '../parts/table.js';
import { Amount, To, When, choicesOf, stateText } from '../parts/values.js';
import { groupDigits } from '../words/digits.js';
import { t } from '../words/words.js';

const FEATURE_TYPES = ['metered', 'boolean', 'static'] as const;

function MakeFeature() {
  const meters = useLoad('meters of features', async () =>
    may('GET', '/meters') ? (await call('GET', '/meters', { query: { limit: 200 } })).items : [],
  );
  if (meters.state !== 'ready') return null;
  return (
    <Act
      name="make_feature"
      ask="ask_feature"
      fields={[
        { name: 'name', label: 'name' },
        { name: 'type', label: 'kind', choices: choicesOf(FEATURE_TYPES) },
        {
          name: 'meter_id',
          label: 'meter',
          isOptional: true,
          choices: meters.value.map(({ id, name }) => [id, name] as const),
        },
        { name: 'lookup_key', label: 'lookup_key', isOptional: true },
      ]}
      send={async (answers) => {
        const { name = '' } = answers;
        const type = FEATURE_TYPES.find((each) => each === answers['type']) ?? 'metered';
        const body = { name, type, ...given(answers, ['meter_id', 'lookup_key']) };
        await call('POST', '/features', { body });
      }}
    />
  );
}

export function Features() {
  const page = pageOfAddress();
  const found = useLoad(`features ${page.offset} ${place.value.environmentId}`, () =>
    call('POST', '/features/search', { body: page }),
  );
  return (
    <Section title={t('features')} actions={may('POST', '/features') && <MakeFeature />}>
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('features')}
              rows={items}
              keyOf={({ id }) => id}
              empty={t('no_features')}
              columns={[
                { name: t('feature'), cell: ({ name }) => name },
                { name: t('kind'), cell: ({ type }) => stateText(type) },
                { name: t('lookup_key'), cell: ({ lookup_key: key }) => <code>{key}</code> },
                { name: t('meter'), cell: ({ meter_id: id }) => <code>{id ?? '–'}</code> },
                {
                  name: t('actions'),
                  isAction: true,
                  cell: ({ id, name, description }) =>
                    may('PUT', '/features/{id}') ? (
                      <Act
                        name="edit"
                        of={id}
                        fields={[
                          { name: 'name', label: 'name', value: name },
                          {
                            name: 'description',
                            label: 'description',
                            isOptional: true,
                            value: description ?? '',
                          },
                        ]}
                        send={async (answers) => {
                          const body = given(answers, ['name', 'description']);
                          await call('PUT', '/features/{id}', { path: { id }, body });
                        }}
                      />
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

export function Addons() {
  const page = pageOfAddress();
  const found = useLoad(`addons ${page.offset} ${place.value.environmentId}`, () =>
    call('POST', '/addons/search', { body: page }),
  );
  const make = may('POST', '/addons') && (
    <Act
      name="make_addon"
      fields={[
        { name: 'name', label: 'name' },
        { name: 'lookup_key', label: 'lookup_key' },
        { name: 'description', label: 'description', isOptional: true },
      ]}
      send={async (answers) => {
        const { name = '', lookup_key: key = '' } = answers;
        const body = { name, lookup_key: key, ...given(answers, ['description']) };
        const { id } = await call('POST', '/addons', { body });
        goTo(`/catalog/addons/${encodeURIComponent(id)}`);
      }}
    />
  );
  return (
    <Section title={t('addons')} actions={make}>
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('addons')}
              rows={items}
              keyOf={({ id }) => id}
              empty={t('no_addons')}
              columns={[
                {
                  name: t('addon'),
                  cell: ({ id, name }) => (
                    <To pattern="/catalog/addons/:id" names={{ id }}>
                      {name}
                    </To>
                  ),
                },
                { name: t('lookup_key'), cell: ({ lookup_key: key }) => <code>{key}</code> },
                { name: t('description'), cell: ({ description }) => description ?? '–' },
              ]}
            />
            <Pages total={pagination.total} offset={page.offset} />
          </>
        )}
      </Show>
    </Section>
  );
}

const COUPON_TYPES = ['percentage', 'fixed'] as const;
const CADENCES = ['once', 'repeated', 'forever'] as const;

async function makeCoupon(answers: Answers): Promise<void> {
  const { name = '', duration = '', uses = '' } = answers;
  const count = (text: string): number => Number.parseInt(text, 10);
  await call('POST', '/coupons', {
    body: {
      name,
      type: COUPON_TYPES.find((each) => each === answers['type']) ?? 'percentage',
      cadence: CADENCES.find((each) => each === answers['cadence']) ?? 'once',
      ...given(answers, [
        'coupon_code',
        'percentage_off',
        'amount_off',
        'currency',
        'redeem_before',
      ]),
      ...(duration === '' ? {} : { duration_in_periods: count(duration) }),
      ...(uses === '' ? {} : { max_redemptions: count(uses) }),
    },
  });
}

function MakeCoupon() {
  return (
    <Act
      name="make_coupon"
      fields={[
        { name: 'name', label: 'name' },
        { name: 'coupon_code', label: 'coupon_code', isOptional: true },
        { name: 'type', label: 'kind', choices: choicesOf(COUPON_TYPES) },
        { name: 'percentage_off', label: 'percentage_off', isOptional: true },
        { name: 'amount_off', label: 'amount_off', isOptional: true },
        { name: 'currency', label: 'currency', isOptional: true },
        { name: 'cadence', label: 'how_often', choices: choicesOf(CADENCES) },
        { name: 'duration', label: 'periods', isOptional: true },
        { name: 'uses', label: 'redemptions_max', isOptional: true },
        { name: 'redeem_before', label: 'redeem_before', isInstant: true, isOptional: true },
      ]}
      send={async (answers) => {
        await makeCoupon(answers);
      }}
    />
  );
}

const couponColumns = (): readonly Column<Schemas['CouponDto']>[] => [
  { name: t('coupon'), cell: ({ name }) => name },
  {
    name: t('coupon_code'),
    cell: ({ coupon_code: code }) => <code>{code ?? '–'}</code>,
  },
  { name: t('how_often'), cell: ({ cadence }) => stateText(cadence) },
  {
    name: t('redeem_before'),
    cell: ({ redeem_before: at }) => <When at={at} precision="day" />,
  },
  {
    name: t('redemptions'),
    isNumber: true,
    cell: ({ total_redemptions: count }) => groupDigits(String(count)),
  },
  {
    name: t('discount'),
    isNumber: true,
    cell: ({ percentage_off: percent, amount_off: amount, currency }) =>
      amount === null ? (
        `${groupDigits(percent ?? '')} %`
      ) : (
        <Amount text={amount} currency={currency ?? ''} />
      ),
  },
  {
    name: t('actions'),
    isAction: true,
    cell: ({ id }) =>
      may('DELETE', '/coupons/{id}') ? (
        <Act
          name="archive"
          of={id}
          ask="ask_archive_coupon"
          send={async () => {
            await call('DELETE', '/coupons/{id}', { path: { id } });
          }}
        />
      ) : null,
  },
];

export function Coupons() {
  const page = pageOfAddress();
  const found = useLoad(`coupons ${page.offset} ${place.value.environmentId}`, () =>
    call('POST', '/coupons/search', { body: page }),
  );
  return (
    <Section title={t('coupons')} actions={may('POST', '/coupons') && <MakeCoupon />}>
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('coupons')}
              rows={items}
              keyOf={({ id }) => id}
              empty={t('no_coupons')}
              columns={couponColumns()}
            />
            <Pages total={pagination.total} offset={page.offset} />
          </>
        )}
      </Show>
    </Section>
  );
}
