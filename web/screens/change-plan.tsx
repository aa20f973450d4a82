import { goTo } from '../app/router.js';
import { call, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import type { Answers } from '../parts/form.js';
import { Facts, Show } from '../parts/states.js';
import { Amount, When } from '../parts/values.js';
import { Wizard } from '../parts/wizard.js';
import { t } from '../words/words.js';
import { PreviewedInvoice } from './invoice-preview.js';
import type { OfSubscription, Subscription } from './of-subscription.js';

type Preview = Schemas['ChangePreviewDto'];
type Change = Schemas['ChangeSubscriptionBody'];

function changeTo({ target = '', at = '' }: Answers, of: Subscription): Change {
  return {
    target_plan_id: target,
    billing_period: of.billing_period,
    billing_period_count: of.billing_period_count,
    billing_cadence: of.billing_cadence,
    billing_cycle: of.billing_cycle,
    proration_behavior: of.proration_behavior,
    change_at: at === 'end_of_period' ? 'end_of_period' : 'immediate',
  };
}

function Shown({ preview, zone }: { preview: Preview; zone: string }) {
  const { proration_details: unused, next_invoice_preview: invoice } = preview;
  const amount = (text: string) => <Amount text={text} currency={unused.currency} />;
  return (
    <>
      <Facts
        of={[
          [t('plan'), `${preview.current_plan.name} → ${preview.target_plan.name}`],
          [t('effective'), <When at={preview.effective_date} zone={zone} precision="second" />],
          [t('credit_unused'), amount(unused.credit_amount)],
          [t('charge_rest'), amount(unused.charge_amount)],
          [t('net'), amount(unused.net_amount)],
        ]}
      />
      {preview.warnings.map((warning) => (
        <p key={warning} class="warning">
          {warning}
        </p>
      ))}
      {invoice !== null && invoice !== undefined && (
        <PreviewedInvoice
          caption={t('next_invoice')}
          currency={unused.currency}
          lines={invoice.line_items.map(({ description, quantity, amount: text }) => ({
            key: `${description} ${text}`,
            name: description,
            quantity,
            amount: text,
          }))}
          sums={[[t('total'), invoice.total]]}
        />
      )}
    </>
  );
}

/** Another plan: first what it would do, then exactly that, as the token of the preview says. */
export function ChangePlan({ subscription, close }: OfSubscription) {
  const { id } = subscription;
  const plans = useLoad('plans to change to', () =>
    call('POST', '/plans/search', { body: { limit: 200 } }),
  );
  return (
    <Show of={plans}>
      {({ items }) => (
        <Wizard
          title="change_plan"
          fields={[
            {
              name: 'target',
              label: 'to_plan',
              choices: items
                .filter((plan) => plan.id !== subscription.plan_id)
                .map((plan) => [plan.id, plan.name] as const),
            },
            {
              name: 'at',
              label: 'when',
              choices: [
                ['immediate', t('at_once')],
                ['end_of_period', t('at_period_end')],
              ],
            },
          ]}
          close={close}
          record={id}
          preview={(answers) =>
            call('POST', '/subscriptions/{id}/change/preview', {
              path: { id },
              body: changeTo(answers, subscription),
            })
          }
          show={(preview) => <Shown preview={preview} zone={subscription.customer_timezone} />}
          execute={async (answers, { preview_token: token }) => {
            const result = await call('POST', '/subscriptions/{id}/change/execute', {
              path: { id },
              body: {
                ...changeTo(answers, subscription),
                ...(token === null ? {} : { preview_token: token }),
              },
            });
            const next = result.new_subscription?.id ?? id;
            if (next === id) close();
            else goTo(`/subscriptions/${encodeURIComponent(next)}`);
          }}
        />
      )}
    </Show>
  );
}
