import { call, client, may, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { goTo, place } from '../app/router.js';
import { Act } from '../parts/act.js';
import { given, TextFilter } from '../parts/form.js';
import { Show } from '../parts/states.js';
import { CsvButton, pageOfAddress, Pages, Table, type Column } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { To, When } from '../parts/values.js';
import { t } from '../words/words.js';

type Customer = Schemas['CustomerDto'];

/** The search that the filters of the address mean. */
function searchOfAddress(): Schemas['SearchCustomersBody'] {
  const { name = '', email = '', external = '' } = place.value.query;
  return {
    ...(email === '' ? {} : { email }),
    ...(external === '' ? {} : { external_id: external }),
    ...(name === ''
      ? {}
      : {
          filters: [
            { field: 'name', operator: 'contains', data_type: 'string', value: { string: name } },
          ],
        }),
  };
}

async function* allCustomers(): AsyncGenerator<readonly (string | null)[]> {
  const body = searchOfAddress();
  for await (const each of client().each('POST', '/customers/search', { body })) {
    yield [each.id, each.external_id, each.name, each.email, each.timezone, each.created_at];
  }
}

const columns = (): readonly Column<Customer>[] => [
  {
    name: t('name'),
    cell: ({ id, name, external_id }) => (
      <To pattern="/customers/:id" names={{ id }}>
        {name === '' ? external_id : name}
      </To>
    ),
  },
  { name: t('external_id'), cell: ({ external_id }) => <code>{external_id}</code> },
  { name: t('email'), cell: ({ email }) => email ?? '–' },
  { name: t('zone'), cell: ({ timezone }) => timezone ?? 'UTC' },
  {
    name: t('created'),
    cell: ({ created_at, timezone }) => <When at={created_at} zone={timezone} precision="day" />,
  },
];

function MakeCustomer() {
  return (
    <Act
      name="make_customer"
      ask="why_customer"
      fields={[
        { name: 'external_id', label: 'external_id' },
        { name: 'name', label: 'name' },
        { name: 'email', label: 'email', isOptional: true },
        { name: 'timezone', label: 'zone', isOptional: true },
      ]}
      send={async (answers) => {
        const { external_id: external = '', name = '' } = answers;
        const body = { external_id: external, name, ...given(answers, ['email', 'timezone']) };
        const { id } = await call('POST', '/customers', { body });
        goTo(`/customers/${encodeURIComponent(id)}`);
      }}
    />
  );
}

export function Customers() {
  const page = pageOfAddress();
  const body = { ...searchOfAddress(), ...page };
  const found = useLoad(`customers ${JSON.stringify(body)} ${place.value.environmentId}`, () =>
    call('POST', '/customers/search', { body }),
  );
  const heads = ['id', 'external_id', 'name', 'email', 'timezone', 'created_at'];
  return (
    <>
      <Title of={t('customers')}>
        {may('POST', '/customers') && <MakeCustomer />}
        <CsvButton name="customers" heads={heads} rows={allCustomers} />
      </Title>
      <div class="filters">
        <TextFilter label={t('name')} name="name" />
        <TextFilter label={t('external_id')} name="external" />
        <TextFilter label={t('email')} name="email" />
      </div>
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('customers')}
              columns={columns()}
              rows={items}
              keyOf={({ id }) => id}
              empty={t('no_customers')}
            />
            <Pages total={pagination.total} offset={page.offset} />
          </>
        )}
      </Show>
    </>
  );
}
