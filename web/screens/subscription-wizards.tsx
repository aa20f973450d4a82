import type { ComponentType } from 'preact';
import { goTo, place } from '../app/router.js';
import { call, may, type Schemas } from '../data/api.js';
import { given, type Answers, type Asked } from '../parts/form.js';
import { Facts } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Amount, Quantity, State, To, When, choicesOf } from '../parts/values.js';
import { Wizard } from '../parts/wizard.js';
import { plain, t, type PlainWord } from '../words/words.js';
import { ChangePlan } from './change-plan.js';
import { versionOf, type OfSubscription, type Subscription } from './of-subscription.js';
import { AddAddon, RemoveAddon } from './addon-wizards.js';
import { InvoicePreview } from './invoice-preview.js';

type Paused = Schemas['PausedSubscriptionDto'];

function Impact({ of, zone }: { of: Paused; zone: string }) {
  const { billing_impact: impact } = of;
  const instant = (at: string | null) =>
    at === null ? t('not_known_yet') : <When at={at} zone={zone} precision="second" />;
  return (
    <Facts
      of={[
        [t('state'), <State of={of.subscription.subscription_status} />],
        [t('pause_begins'), instant(of.pause_start)],
        [t('pause_ends'), instant(of.pause_end)],
        [t('period_ended'), instant(impact.period_end_before)],
        [t('period_will_end'), instant(impact.period_end_after)],
        [t('next_invoice_at'), instant(impact.next_invoice_at)],
      ]}
    />
  );
}

const PAUSE_MODES = ['immediate', 'period_end', 'scheduled'] as const;

const PAUSE_FIELDS = (): readonly Asked[] => [
  { name: 'pause_mode', label: 'when', choices: choicesOf(PAUSE_MODES) },
  { name: 'pause_start', label: 'pause_begins', isInstant: true, isOptional: true },
  { name: 'pause_end', label: 'pause_ends', isInstant: true, isOptional: true },
  { name: 'reason', label: 'reason', isOptional: true },
];

function Pause({ subscription, close }: OfSubscription) {
  const { id } = subscription;
  const pause = (answers: Answers, isDry: boolean): Promise<Paused> => {
    const mode = PAUSE_MODES.find((each) => each === answers['pause_mode']) ?? 'immediate';
    return call('POST', '/subscriptions/{id}/pause', {
      path: { id },
      ifMatch: versionOf(subscription),
      body: {
        pause_mode: mode,
        dry_run: isDry,
        ...given(answers, ['pause_start', 'pause_end', 'reason']),
      },
    });
  };
  return (
    <Wizard
      title="pause"
      ask="ask_pause"
      fields={PAUSE_FIELDS()}
      close={close}
      record={id}
      preview={(answers) => pause(answers, true)}
      show={(shown) => <Impact of={shown} zone={subscription.customer_timezone} />}
      execute={async (answers) => {
        await pause(answers, false);
        close();
      }}
    />
  );
}

const RESUME_MODES = ['immediate', 'scheduled'] as const;

function Resume({ subscription, close }: OfSubscription) {
  const { id } = subscription;
  const resume = (answers: Answers, isDry: boolean): Promise<Paused> => {
    const mode = RESUME_MODES.find((each) => each === answers['resume_mode']) ?? 'immediate';
    return call('POST', '/subscriptions/{id}/resume', {
      path: { id },
      ifMatch: versionOf(subscription),
      body: { resume_mode: mode, dry_run: isDry, ...given(answers, ['resume_at']) },
    });
  };
  return (
    <Wizard
      title="resume"
      fields={[
        { name: 'resume_mode', label: 'when', choices: choicesOf(RESUME_MODES) },
        { name: 'resume_at', label: 'resume_at', isInstant: true, isOptional: true },
      ]}
      close={close}
      record={id}
      preview={(answers) => resume(answers, true)}
      show={(shown) => <Impact of={shown} zone={subscription.customer_timezone} />}
      execute={async (answers) => {
        await resume(answers, false);
        close();
      }}
    />
  );
}

type Cancelled = Schemas['CancellationDto'];

function Ended({ of, subscription }: { of: Cancelled; subscription: Subscription }) {
  const amount = (text: string) => <Amount text={text} currency={subscription.currency} />;
  return (
    <>
      <Facts
        of={[
          [
            t('ends'),
            <When
              at={of.effective_date}
              zone={subscription.customer_timezone}
              precision="second"
            />,
          ],
          [t('credit_unused'), amount(of.total_credit_amount)],
          [t('lowers_invoices'), amount(of.credit.lowered_amount)],
          [t('sets_off'), amount(of.credit.set_off_amount)],
          [t('to_wallet'), amount(of.credit.wallet_amount)],
        ]}
      />
      <InvoicePreview title="final_invoice" invoice={of.proration_invoice} />
    </>
  );
}

const CANCEL_TYPES = ['end_of_period', 'immediate', 'scheduled_date'] as const;
const PRORATIONS = ['create_prorations', 'none'] as const;

function Cancel({ subscription, close }: OfSubscription) {
  const { id } = subscription;
  const cancel = (answers: Answers, shown: Cancelled | null): Promise<Cancelled> => {
    const type = CANCEL_TYPES.find((each) => each === answers['type']) ?? 'end_of_period';
    const proration = PRORATIONS.find((each) => each === answers['proration']) ?? 'none';
    return call('POST', '/subscriptions/{id}/cancel', {
      path: { id },
      ifMatch: versionOf(subscription),
      body: {
        cancellation_type: type,
        proration_behavior: proration,
        dry_run: shown === null,
        ...given(answers, ['cancel_at', 'reason']),
        // As of the instant that was shown, so that the amounts are those that were shown.
        ...(shown !== null && type === 'immediate' ? { cancel_at: shown.effective_date } : {}),
      },
    });
  };
  return (
    <Wizard
      title="cancel_subscription"
      ask="ask_cancel"
      fields={[
        { name: 'type', label: 'when', choices: choicesOf(CANCEL_TYPES) },
        { name: 'cancel_at', label: 'cancel_at', isInstant: true, isOptional: true },
        { name: 'proration', label: 'unused_time', choices: choicesOf(PRORATIONS) },
        { name: 'reason', label: 'reason', isOptional: true },
      ]}
      close={close}
      record={id}
      preview={(answers) => cancel(answers, null)}
      show={(shown) => <Ended of={shown} subscription={subscription} />}
      execute={async (answers, shown) => {
        await cancel(answers, shown);
        close();
      }}
    />
  );
}

/** Lines whose quantity is said, and not counted. */
const fixedLines = ({ line_items: lines }: Subscription) =>
  (lines ?? []).filter(({ price_type: type }) => type === 'FIXED');

type Modified = Schemas['ModifiedDto'];

function Changed({ of, subscription }: { of: Modified; subscription: Subscription }) {
  const { line_items: lines, invoices } = of.changed_resources;
  const nameOf = (priceId: string): string =>
    subscription.line_items?.find(({ price_id: id }) => id === priceId)?.display_name ?? priceId;
  return (
    <>
      <Table
        caption={t('lines')}
        rows={lines}
        keyOf={({ id }) => id}
        columns={[
          { name: t('line'), cell: ({ price_id: id }) => nameOf(id) },
          { name: t('change'), cell: ({ change_action: action }) => <State of={action} /> },
          {
            name: t('since'),
            cell: ({ start_date: at }) => (
              <When at={at} zone={subscription.customer_timezone} precision="second" />
            ),
          },
          {
            name: t('ends'),
            cell: ({ end_date: at }) => (
              <When at={at} zone={subscription.customer_timezone} precision="second" />
            ),
          },
          {
            name: t('quantity'),
            isNumber: true,
            cell: ({ quantity }) => <Quantity text={quantity} />,
          },
        ]}
      />
      {invoices.map(({ id, action, invoice, wallet_transaction: credit }) => (
        <div key={id}>
          <InvoicePreview
            title={action === 'created' ? 'charged_at_once' : 'credited'}
            invoice={invoice}
          />
          {credit !== null && (
            <Facts
              of={[[t('to_wallet'), <Amount text={credit.amount} currency={credit.currency} />]]}
            />
          )}
        </div>
      ))}
      {invoices.length === 0 && <p class="quiet">{t('nothing_charged_at_once')}</p>}
    </>
  );
}

function ChangeQuantity({ subscription, close }: OfSubscription) {
  const { id } = subscription;
  const lines = fixedLines(subscription);
  const bodyOf = (answers: Answers, at: string | null): Schemas['ModifySubscriptionBody'] => ({
    type: 'quantity_change',
    quantity_change_params: {
      line_items: [
        {
          id: answers['line'] ?? '',
          quantity: answers['quantity'] ?? '',
          ...given(answers, ['effective_date']),
          ...(at === null ? {} : { effective_date: at }),
        },
      ],
    },
  });
  return (
    <Wizard
      title="change_quantity"
      fields={[
        {
          name: 'line',
          label: 'line',
          choices: lines.map(
            (line) => [line.id, `${line.display_name} (${line.quantity})`] as const,
          ),
        },
        { name: 'quantity', label: 'new_quantity' },
        { name: 'effective_date', label: 'effective', isInstant: true, isOptional: true },
      ]}
      close={close}
      record={id}
      preview={(answers) =>
        call('POST', '/subscriptions/{id}/modify/preview', {
          path: { id },
          ifMatch: versionOf(subscription),
          body: bodyOf(answers, null),
        })
      }
      show={(shown) => <Changed of={shown} subscription={subscription} />}
      execute={async (answers, { changed_resources: shown }) => {
        const made = shown.line_items.find(({ change_action: action }) => action === 'created');
        await call('POST', '/subscriptions/{id}/modify/execute', {
          path: { id },
          ifMatch: versionOf(subscription),
          // As of the instant that was shown.
          body: bodyOf(answers, made?.start_date ?? null),
        });
        close();
      }}
    />
  );
}

type Offer = {
  readonly word: PlainWord;
  readonly isOffered: (subscription: Subscription) => boolean;
};

const isActive = ({ subscription_status: state }: Subscription): boolean => state === 'active';
const isOver = ({ subscription_status: state }: Subscription): boolean => state === 'cancelled';

/** What is offered of a subscription, by its name in the address. */
const OFFERS: Readonly<Record<string, Offer>> = {
  plan: {
    word: 'change_plan',
    isOffered: (it) => !isOver(it) && may('POST', '/subscriptions/{id}/change/execute'),
  },
  quantity: {
    word: 'change_quantity',
    isOffered: (it) =>
      isActive(it) &&
      fixedLines(it).length > 0 &&
      may('POST', '/subscriptions/{id}/modify/execute'),
  },
  addon: {
    word: 'add_addon',
    isOffered: (it) => isActive(it) && may('POST', '/subscriptions/addon'),
  },
  pause: {
    word: 'pause',
    isOffered: (it) =>
      isActive(it) && it.active_pause_id === null && may('POST', '/subscriptions/{id}/pause'),
  },
  resume: {
    word: 'resume',
    isOffered: (it) => it.active_pause_id !== null && may('POST', '/subscriptions/{id}/resume'),
  },
  cancel: {
    word: 'cancel_subscription',
    isOffered: (it) => !isOver(it) && may('POST', '/subscriptions/{id}/cancel'),
  },
};

/** Links to what may be done with a subscription as it is. */
export function SubscriptionOffers({ subscription }: { subscription: Subscription }) {
  const names = { id: subscription.id };
  return (
    <>
      {Object.entries(OFFERS)
        .filter(([, { isOffered }]) => isOffered(subscription))
        .map(([wizard, { word }]) => (
          <To
            key={wizard}
            class="button"
            pattern="/subscriptions/:id"
            names={names}
            query={{ wizard }}
          >
            {plain(word)}
          </To>
        ))}
    </>
  );
}

const WIZARDS: Readonly<Record<string, ComponentType<OfSubscription>>> = {
  plan: ChangePlan,
  quantity: ChangeQuantity,
  addon: AddAddon,
  pause: Pause,
  resume: Resume,
  cancel: Cancel,
};

/** The wizard that the address names, where the server lets its result be done. */
export function SubscriptionWizard({ subscription }: { subscription: Subscription }) {
  const name = place.value.query['wizard'] ?? '';
  const close = (): void => {
    goTo(`/subscriptions/${encodeURIComponent(subscription.id)}`);
  };
  const props = { subscription, close };
  if (name === 'remove_addon') {
    return may('DELETE', '/subscriptions/addon') ? <RemoveAddon {...props} /> : null;
  }
  if (OFFERS[name]?.isOffered(subscription) !== true) return null;
  const Chosen = WIZARDS[name];
  return Chosen === undefined ? null : <Chosen {...props} />;
}
