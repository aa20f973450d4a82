import { goTo } from '../app/router.js';
import { call, may, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { Act } from '../parts/act.js';
import { given } from '../parts/form.js';
import { choicesOf } from '../parts/values.js';

type Customer = Schemas['CustomerDto'];
type ActsProps = { customer: Customer };

const PERIODS = ['MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL', 'WEEKLY', 'DAILY'] as const;

function Subscribe({ customer }: { customer: Customer }) {
  const plans = useLoad('plans to subscribe to', () =>
    call('POST', '/plans/search', { body: { limit: 200 } }),
  );
  if (plans.state !== 'ready' || plans.value.items.length === 0) return null;
  return (
    <Act
      name="make_subscription"
      fields={[
        {
          name: 'plan',
          label: 'plan',
          choices: plans.value.items.map(({ id, name }) => [id, name] as const),
        },
        { name: 'currency', label: 'currency', value: 'usd' },
        {
          name: 'period',
          label: 'cadence',
          choices: choicesOf(PERIODS),
        },
        { name: 'start_date', label: 'since', isInstant: true, isOptional: true },
      ]}
      send={async (answers) => {
        const { plan = '', currency = '', period } = answers;
        const { id } = await call('POST', '/subscriptions', {
          body: {
            customer_id: customer.id,
            plan_id: plan,
            currency: currency.toLowerCase(),
            billing_period: PERIODS.find((each) => each === period) ?? 'MONTHLY',
            ...given(answers, ['start_date']),
          },
        });
        goTo(`/subscriptions/${encodeURIComponent(id)}`);
      }}
    />
  );
}

function EditCustomer({ customer }: ActsProps) {
  const { id } = customer;
  const field = (name: 'email' | 'address_line1' | 'address_postal_code' | 'address_city') =>
    ({ name, value: customer[name] ?? '', isOptional: true }) as const;
  return (
    <Act
      name="edit"
      record={id}
      fields={[
        { name: 'name', label: 'name', value: customer.name },
        { ...field('email'), label: 'email' },
        { ...field('address_line1'), label: 'street' },
        { ...field('address_postal_code'), label: 'postal_code' },
        { ...field('address_city'), label: 'city' },
        {
          name: 'address_country',
          label: 'country',
          value: customer.address_country ?? '',
          isOptional: true,
        },
        { name: 'timezone', label: 'zone', value: customer.timezone ?? '', isOptional: true },
      ]}
      send={async (answers) => {
        const body = given(answers, [
          'name',
          'email',
          'address_line1',
          'address_postal_code',
          'address_city',
          'address_country',
          'timezone',
        ]);
        await call('PUT', '/customers/{id}', { path: { id }, body });
      }}
    />
  );
}

/** What may be done with a customer, by whom the server lets do it. */
export function CustomerActs({ customer }: ActsProps) {
  return (
    <>
      {may('POST', '/subscriptions') && may('POST', '/plans/search') && (
        <Subscribe customer={customer} />
      )}
      {may('POST', '/wallets') && (
        <Act
          name="make_wallet"
          fields={[
            { name: 'name', label: 'name' },
            { name: 'currency', label: 'currency', value: 'usd' },
            { name: 'initial_credits_to_load', label: 'credits', isOptional: true },
          ]}
          send={async (answers) => {
            const { currency = '' } = answers;
            const { id } = await call('POST', '/wallets', {
              body: {
                customer_id: customer.id,
                currency: currency.toLowerCase(),
                ...given(answers, ['name', 'initial_credits_to_load']),
              },
            });
            goTo(`/wallets/${encodeURIComponent(id)}`);
          }}
        />
      )}
      {may('PUT', '/customers/{id}') && <EditCustomer customer={customer} />}
    </>
  );
}
