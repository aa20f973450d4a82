import type { ItemOf } from '../../client/api-call.js';
import { goTo, place } from '../app/router.js';
import { call, may } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { Act } from '../parts/act.js';
import { given } from '../parts/form.js';
import { Section, Show } from '../parts/states.js';
import { pageOfAddress, Pages, Table, type Column } from '../parts/table.js';
import { State, To, When, choicesOf, stateText } from '../parts/values.js';
import { groupDigits } from '../words/digits.js';
import { t } from '../words/words.js';

export function Plans() {
  const page = pageOfAddress();
  const found = useLoad(`plans ${page.offset} ${place.value.environmentId}`, () =>
    call('POST', '/plans/search', { body: page }),
  );
  const make = may('POST', '/plans') && (
    <Act
      name="make_plan"
      fields={[
        { name: 'name', label: 'name' },
        { name: 'description', label: 'description', isOptional: true },
        { name: 'lookup_key', label: 'lookup_key', isOptional: true },
      ]}
      send={async (answers) => {
        const { name = '' } = answers;
        const body = { name, ...given(answers, ['description', 'lookup_key']) };
        const { id } = await call('POST', '/plans', { body });
        goTo(`/catalog/plans/${encodeURIComponent(id)}`);
      }}
    />
  );
  return (
    <Section title={t('plans')} actions={make}>
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
                { name: t('description'), cell: ({ description }) => description ?? '–' },
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

const AGGREGATIONS = [
  'COUNT',
  'SUM',
  'MAX',
  'MIN',
  'LATEST',
  'AVG',
  'COUNT_UNIQUE',
  'WEIGHTED_SUM',
] as const;

type Meter = ItemOf<'GET', '/meters'>;

function MeterActs({ meter }: { meter: Meter }) {
  const path = { id: meter.id };
  return (
    <span class="buttons">
      {may('PUT', '/meters/{id}') && (
        <Act
          name="edit"
          of={meter.id}
          fields={[{ name: 'name', label: 'name', value: meter.name }]}
          send={async (answers) => {
            await call('PUT', '/meters/{id}', { path, body: given(answers, ['name']) });
          }}
        />
      )}
      {may('DELETE', '/meters/{id}') && (
        <Act
          name="archive"
          of={meter.id}
          ask="ask_archive_meter"
          send={async () => {
            await call('DELETE', '/meters/{id}', { path });
          }}
        />
      )}
    </span>
  );
}

const meterColumns = (): readonly Column<Meter>[] => [
  { name: t('meter'), cell: ({ name }) => name },
  { name: t('event_name'), cell: ({ event_name: name }) => <code>{name}</code> },
  {
    name: t('aggregation'),
    cell: ({ aggregation: { type, field } }) => [stateText(type), field ?? ''].join(' '),
  },
  {
    name: t('meter_version'),
    isNumber: true,
    cell: ({ version }) => groupDigits(String(version)),
  },
  { name: t('counting'), cell: ({ backfill }) => <State of={backfill.status} /> },
  {
    name: t('actions'),
    isAction: true,
    cell: (meter) => <MeterActs meter={meter} />,
  },
];

export function Meters() {
  const page = pageOfAddress();
  const found = useLoad(`meters ${page.offset} ${place.value.environmentId}`, () =>
    call('GET', '/meters', { query: page }),
  );
  const make = may('POST', '/meters') && (
    <Act
      name="make_meter"
      ask="why_meter"
      fields={[
        { name: 'name', label: 'name' },
        { name: 'event_name', label: 'event_name' },
        {
          name: 'type',
          label: 'aggregation',
          choices: choicesOf(AGGREGATIONS),
        },
        { name: 'field', label: 'property', isOptional: true },
        { name: 'filter', label: 'only_property', isOptional: true },
        { name: 'value', label: 'only_value', isOptional: true },
      ]}
      send={async (answers) => {
        const { name = '', event_name: event = '', filter = '', value = '' } = answers;
        const type = AGGREGATIONS.find((each) => each === answers['type']) ?? 'COUNT';
        await call('POST', '/meters', {
          body: {
            name,
            event_name: event,
            aggregation: { type, ...given(answers, ['field']) },
            ...(filter === '' ? {} : { filters: [{ key: filter, values: [value] }] }),
          },
        });
      }}
    />
  );
  return (
    <Section title={t('meters')} actions={make}>
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('meters')}
              rows={items}
              keyOf={({ id }) => id}
              empty={t('no_meters')}
              columns={meterColumns()}
            />
            <Pages total={pagination.total} offset={page.offset} />
          </>
        )}
      </Show>
    </Section>
  );
}
