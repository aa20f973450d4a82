import { useState } from 'preact/hooks';
import { goTo, place } from '../app/router.js';
import { call, may, type Schemas } from '../data/api.js';
import { useAction, useLoad } from '../data/load.js';
import { Form, type Answers } from '../parts/form.js';
import { Facts, Failure, Section, Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Amount, Quantity, When } from '../parts/values.js';
import { t } from '../words/words.js';

type Subscription = Schemas['ExpandedSubscriptionDto'];
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
        <>
          <Table
            caption={t('next_invoice')}
            rows={invoice.line_items}
            keyOf={({ description, amount: text }) => `${description} ${text}`}
            columns={[
              { name: t('line'), cell: ({ description }) => description },
              {
                name: t('quantity'),
                isNumber: true,
                cell: ({ quantity }) => <Quantity text={quantity} />,
              },
              { name: t('amount'), isNumber: true, cell: ({ amount: text }) => amount(text) },
            ]}
          />
          <dl class="sums">
            <div>
              <dt>{t('total')}</dt>
              <dd>{amount(invoice.total)}</dd>
            </div>
          </dl>
        </>
      )}
    </>
  );
}

type ExecuteProps = { change: Change; preview: Preview; of: Subscription; back: () => void };

/** Does exactly what was shown: the token of the preview says so to the server. */
function Execute({ change, preview, of, back }: ExecuteProps) {
  const executing = useAction(async () => {
    const { preview_token: token } = preview;
    const body = { ...change, ...(token === null ? {} : { preview_token: token }) };
    const result = await call('POST', '/subscriptions/{id}/change/execute', {
      path: { id: of.id },
      body,
    });
    const id = result.new_subscription?.id ?? of.id;
    goTo(`/subscriptions/${encodeURIComponent(id)}`);
  });
  return (
    <>
      <Shown preview={preview} zone={of.customer_timezone} />
      <Failure error={executing.error} />
      <div class="buttons">
        <button
          type="button"
          class="main"
          data-writes
          disabled={executing.isRunning}
          onClick={executing.run}
        >
          {t('do_exactly_this')}
        </button>
        <button type="button" onClick={back}>
          {t('back')}
        </button>
      </div>
    </>
  );
}

function Wizard({ subscription }: { subscription: Subscription }) {
  const [shown, setShown] = useState<{ change: Change; preview: Preview } | null>(null);
  const plans = useLoad('plans to change to', () =>
    call('POST', '/plans/search', { body: { limit: 200 } }),
  );
  const { id } = subscription;
  if (shown !== null) {
    return <Execute {...shown} of={subscription} back={() => setShown(null)} />;
  }
  const preview = async (answers: Answers): Promise<void> => {
    const change = changeTo(answers, subscription);
    const path = { id };
    const answer = await call('POST', '/subscriptions/{id}/change/preview', { path, body: change });
    setShown({ change, preview: answer });
  };
  return (
    <Show of={plans}>
      {({ items }) => (
        <Form
          submit={t('show_effect')}
          send={preview}
          cancel={() => goTo(`/subscriptions/${encodeURIComponent(id)}`)}
        >
          <label class="field">
            <span>{t('to_plan')}</span>
            <select name="target" required>
              {items
                .filter((plan) => plan.id !== subscription.plan_id)
                .map((plan) => (
                  <option key={plan.id} value={plan.id}>
                    {plan.name}
                  </option>
                ))}
            </select>
          </label>
          <label class="field">
            <span>{t('when')}</span>
            <select name="at">
              <option value="immediate">{t('at_once')}</option>
              <option value="end_of_period">{t('at_period_end')}</option>
            </select>
          </label>
        </Form>
      )}
    </Show>
  );
}

/** Another plan: first what it would do, then exactly that. Open while the address says so. */
export function ChangePlan({ subscription }: { subscription: Subscription }) {
  const isOpen = place.value.query['wizard'] === 'plan';
  if (!isOpen || !may('POST', '/subscriptions/{id}/change/execute')) return null;
  return (
    <Section title={t('change_plan')}>
      <Wizard subscription={subscription} />
    </Section>
  );
}
