import { place } from '../app/router.js';
import { call, may, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { given, type Answers } from '../parts/form.js';
import { Facts, Section, Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Amount, choicesOf, State, To, When } from '../parts/values.js';
import { Wizard } from '../parts/wizard.js';
import { t } from '../words/words.js';
import { InvoicePreview } from './invoice-preview.js';
import type { OfSubscription, Subscription } from './of-subscription.js';

const CADENCES = ['recurring', 'onetime'] as const;
const PRORATIONS = ['create_prorations', 'none'] as const;

const prorationOf = (answers: Answers) =>
  PRORATIONS.find((each) => each === answers['proration']) ?? 'none';

type Added = Schemas['AddedAddonDto'];

function Lines({ of, zone }: { of: Pick<Added, 'line_items'>; zone: string }) {
  return (
    <Table
      caption={t('lines')}
      rows={of.line_items}
      keyOf={({ id }) => id}
      columns={[
        { name: t('line'), cell: ({ display_name: name }) => name },
        {
          name: t('since'),
          cell: ({ start_date: at }) => <When at={at} zone={zone} precision="second" />,
        },
        {
          name: t('ends'),
          cell: ({ end_date: at }) => <When at={at} zone={zone} precision="second" />,
        },
      ]}
    />
  );
}

/** Adds an addon, after what it would charge was shown. */
export function AddAddon({ subscription, close }: OfSubscription) {
  const { id } = subscription;
  const zone = subscription.customer_timezone;
  const addons = useLoad('addons to add', () =>
    call('POST', '/addons/search', { body: { limit: 200 } }),
  );
  const add = (answers: Answers, shown: Added | null): Promise<Added> =>
    call('POST', '/subscriptions/addon', {
      body: {
        subscription_id: id,
        addon_id: answers['addon'] ?? '',
        cadence: CADENCES.find((each) => each === answers['cadence']) ?? 'recurring',
        proration_behavior: prorationOf(answers),
        dry_run: shown === null,
        // From the instant that was shown.
        ...(shown === null ? {} : { start_date: shown.start_date }),
      },
    });
  return (
    <Show of={addons}>
      {({ items }) =>
        items.length === 0 ? (
          <Section title={t('add_addon')}>
            <p class="empty">{t('no_addons')}</p>
          </Section>
        ) : (
          <Wizard
            title="add_addon"
            fields={[
              {
                name: 'addon',
                label: 'addon',
                choices: items.map(({ id: addon, name }) => [addon, name] as const),
              },
              { name: 'cadence', label: 'cadence', choices: choicesOf(CADENCES) },
              { name: 'proration', label: 'rest_of_period', choices: choicesOf(PRORATIONS) },
            ]}
            close={close}
            record={id}
            preview={(answers) => add(answers, null)}
            show={(shown) => (
              <>
                <Lines of={shown} zone={zone} />
                <InvoicePreview title="charged_at_once" invoice={shown.invoice} />
              </>
            )}
            execute={async (answers, shown) => {
              await add(answers, shown);
              close();
            }}
          />
        )
      }
    </Show>
  );
}

type Removed = Schemas['RemovedAddonDto'];

/** Removes the addon that the address names, after what it would give back was shown. */
export function RemoveAddon({ subscription, close }: OfSubscription) {
  const zone = subscription.customer_timezone;
  const { addon = '' } = place.value.query;
  const remove = (answers: Answers, isDry: boolean): Promise<Removed> =>
    call('DELETE', '/subscriptions/addon', {
      body: {
        addon_association_id: addon,
        proration_behavior: prorationOf(answers),
        dry_run: isDry,
        ...given(answers, ['effective_date', 'reason']),
      },
    });
  return (
    <Wizard
      title="remove_addon"
      fields={[
        { name: 'effective_date', label: 'ends', isInstant: true, isOptional: true },
        { name: 'proration', label: 'unused_time', choices: choicesOf(PRORATIONS) },
        { name: 'reason', label: 'reason', isOptional: true },
      ]}
      close={close}
      record={subscription.id}
      preview={(answers) => remove(answers, true)}
      show={(shown) => (
        <Facts
          of={[
            [t('ends'), <When at={shown.end_date} zone={zone} precision="second" />],
            [
              t('to_wallet'),
              shown.wallet_transaction === null ? (
                '–'
              ) : (
                <Amount
                  text={shown.wallet_transaction.amount}
                  currency={shown.wallet_transaction.currency}
                />
              ),
            ],
          ]}
        />
      )}
      execute={async (answers) => {
        await remove(answers, false);
        close();
      }}
    />
  );
}

/** The addons that a subscription has, had or is to have. */
export function AddonsOf({ subscription }: { subscription: Subscription }) {
  const { id, customer_timezone: zone } = subscription;
  const found = useLoad(`addons of ${id} ${String(subscription.version)}`, async () => {
    const associations = await call('GET', '/subscriptions/{id}/addons/associations', {
      path: { id },
      query: { limit: 100 },
    });
    const ids = associations.items.map(({ addon_id: addon }) => addon);
    if (ids.length === 0) return { items: associations.items, names: new Map<string, string>() };
    const addons = await call('POST', '/addons/search', { body: { addon_ids: ids } });
    return {
      items: associations.items,
      names: new Map(addons.items.map(({ id: addon, name }) => [addon, name])),
    };
  });
  return (
    <Section title={t('addons')}>
      <Show of={found}>
        {({ items, names }) => (
          <Table
            caption={t('addons')}
            rows={items}
            keyOf={(each) => each.id}
            empty={t('no_addons_here')}
            columns={[
              { name: t('addon'), cell: ({ addon_id: addon }) => names.get(addon) ?? addon },
              { name: t('state'), cell: ({ addon_status: state }) => <State of={state} /> },
              {
                name: t('since'),
                cell: ({ start_date: at }) => <When at={at} zone={zone} precision="day" />,
              },
              {
                name: t('ends'),
                cell: ({ end_date: at }) => <When at={at} zone={zone} precision="day" />,
              },
              {
                name: t('actions'),
                isAction: true,
                cell: ({ id: addon, addon_status: state }) =>
                  state === 'active' && may('DELETE', '/subscriptions/addon') ? (
                    <To
                      class="button"
                      pattern="/subscriptions/:id"
                      names={{ id }}
                      query={{ wizard: 'remove_addon', addon }}
                    >
                      {t('remove')}
                    </To>
                  ) : null,
              },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}
