import { useEffect } from 'preact/hooks';
import { place } from '../app/router.js';
import { call, may, type Schemas } from '../data/api.js';
import { isDevelopment } from '../data/first-steps.js';
import { reload, useLoad } from '../data/load.js';
import { Act } from '../parts/act.js';
import { Filter } from '../parts/form.js';
import { Facts, Section, Show } from '../parts/states.js';
import { pageOfAddress, Pages, Table } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { Id, State, To, When, choicesOf } from '../parts/values.js';
import { groupDigits } from '../words/digits.js';
import { t } from '../words/words.js';

type Clock = Schemas['TestClockDto'];
type OfClock = { clock: Clock };

const FEW = 20;
const POLL_MS = 1000;

/** Active subscriptions whose periods end next, and so are billed next. */
function readNext() {
  const sort = [{ field: 'current_period_end', direction: 'asc' as const }];
  const body = {
    subscription_status: ['active' as const],
    sort,
    limit: FEW,
    expand: 'customer,plan',
  };
  return call('POST', '/subscriptions/search', { body });
}

function WillHappen() {
  const found = useLoad(`next of ${place.value.environmentId}`, readNext);
  return (
    <Section title={t('will_happen')}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('will_happen')}
            rows={items}
            keyOf={({ id }) => id}
            empty={t('no_subscriptions')}
            columns={[
              {
                name: t('when'),
                cell: ({ current_period_end: at, customer_timezone: zone }) => (
                  <When at={at} zone={zone} />
                ),
              },
              { name: t('what'), cell: () => t('period_is_billed') },
              {
                name: t('subscription'),
                cell: ({ id, plan, plan_id: planId }) => (
                  <To pattern="/subscriptions/:id" names={{ id }}>
                    {plan?.name ?? planId}
                  </To>
                ),
              },
              {
                name: t('customer'),
                cell: ({ customer, customer_id: id }) => <Id id={id} text={customer?.name ?? id} />,
              },
              {
                name: t('ends'),
                cell: ({ cancel_at: at, customer_timezone: zone }) => <When at={at} zone={zone} />,
              },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

function Happened({ clock }: { clock: Clock }) {
  return (
    <Section title={t('has_happened')}>
      <Table
        caption={t('has_happened')}
        rows={clock.happened}
        keyOf={({ sequence }) => String(sequence)}
        empty={t('nothing_happened')}
        columns={[
          { name: t('when'), cell: ({ created_at: at }) => <When at={at} precision="second" /> },
          { name: t('event'), cell: ({ event_name: name }) => <code>{name}</code> },
          { name: t('record'), cell: ({ entity_id: id }) => <Id id={id} /> },
        ]}
      />
      {clock.has_more && <p class="quiet">{t('more_happened')}</p>}
    </Section>
  );
}

/** Soon after a period ends: it is billed then, and its invoice still is a draft. */
function soonAfter(instant: string): string {
  return new Date(Date.parse(instant) + 1_800_000).toISOString();
}

function ClockActs({ clock }: OfClock) {
  const next = useLoad(`advance of ${clock.id} ${clock.now}`, readNext);
  const end = next.state === 'ready' ? next.value.items[0]?.current_period_end : undefined;
  const path = { id: clock.id };
  // The next end of a period is offered, so it must be known first.
  const mayAdvance = may('POST', '/test_clocks/{id}/advance');
  return (
    <>
      {clock.status !== 'advancing' && next.state === 'ready' && mayAdvance && (
        <Act
          name="advance"
          ask="ask_advance"
          fields={[
            { name: 'now', label: 'until', isInstant: true, value: soonAfter(end ?? clock.now) },
          ]}
          send={async ({ now = '' }) => {
            await call('POST', '/test_clocks/{id}/advance', { path, body: { now } });
          }}
        />
      )}
      {may('DELETE', '/test_clocks/{id}') && (
        <Act
          name="remove_clock"
          ask="ask_remove_clock"
          send={async () => {
            await call('DELETE', '/test_clocks/{id}', { path });
          }}
        />
      )}
    </>
  );
}

function ClockShown({ clock }: OfClock) {
  const isAdvancing = clock.status === 'advancing';
  useEffect(() => {
    if (!isAdvancing) return undefined;
    const timer = setInterval(reload, POLL_MS);
    return () => clearInterval(timer);
  }, [isAdvancing]);
  return (
    <>
      <Facts
        of={[
          [t('now_is'), <When at={clock.now} precision="second" />],
          [t('state'), <State of={clock.status} />],
          [t('name'), clock.name ?? '–'],
          [t('until'), <When at={clock.advance_to} precision="second" />],
          ...(clock.failure_reason === null ? [] : [[t('reason'), clock.failure_reason] as const]),
        ]}
      />
      {isAdvancing && (
        <div class="progress" role="status">
          <label>
            <span>{t('advancing')}</span>
            <progress />
          </label>
        </div>
      )}
      <div class="buttons">
        <ClockActs clock={clock} />
      </div>
      <WillHappen key={clock.now} />
      <Happened clock={clock} />
    </>
  );
}

function Clocks() {
  const found = useLoad(`clocks ${place.value.environmentId}`, () => call('GET', '/test_clocks'));
  return (
    <Show of={found}>
      {({ items: [clock] }) =>
        clock === undefined ? (
          <>
            <p>{t('no_clock')}</p>
            {isDevelopment() && may('POST', '/test_clocks') && (
              <div class="buttons">
                <Act
                  name="make_clock"
                  ask="ask_make_clock"
                  fields={[
                    { name: 'name', label: 'name', value: 'Test' },
                    {
                      name: 'now',
                      label: 'now_is',
                      isInstant: true,
                      value: new Date().toISOString(),
                    },
                  ]}
                  send={async ({ name = '', now = '' }) => {
                    await call('POST', '/test_clocks', { body: { name, now } });
                  }}
                />
              </div>
            )}
          </>
        ) : (
          <ClockShown clock={clock} />
        )
      }
    </Show>
  );
}

const JOB_STATES = ['waiting', 'running', 'parked'] as const;

function Jobs() {
  const page = pageOfAddress();
  const state = JOB_STATES.find((each) => each === place.value.query['jobs']);
  const query = { ...page, ...(state === undefined ? {} : { status: state }) };
  const found = useLoad(`jobs ${JSON.stringify(query)} ${place.value.environmentId}`, () =>
    call('GET', '/jobs', { query }),
  );
  const choices = choicesOf(JOB_STATES);
  return (
    <Section title={t('jobs')}>
      <div class="filters">
        <Filter label={t('state')} name="jobs" choices={choices} />
      </div>
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('jobs')}
              rows={items}
              keyOf={({ id }) => id}
              empty={t('no_jobs')}
              columns={[
                { name: t('job'), cell: ({ job }) => job.replaceAll('-', ' ') },
                { name: t('state'), cell: ({ status }) => <State of={status} /> },
                { name: t('due'), cell: ({ due_at: at }) => <When at={at} precision="second" /> },
                {
                  name: t('attempts'),
                  isNumber: true,
                  cell: ({ attempts }) => groupDigits(String(attempts)),
                },
                { name: t('reason'), cell: ({ error }) => error ?? '–' },
                {
                  name: t('actions'),
                  isAction: true,
                  cell: ({ id, status }) =>
                    status === 'parked' && may('POST', '/jobs/{id}/retry') ? (
                      <Act
                        name="run_again"
                        of={id}
                        ask="ask_run_again"
                        send={async () => {
                          await call('POST', '/jobs/{id}/retry', { path: { id } });
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

function Alarms() {
  const found = useLoad(`alarms ${place.value.environmentId}`, () =>
    call('POST', '/alerts/search', { body: { limit: FEW } }),
  );
  return (
    <Section title={t('alarms')}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('alarms')}
            rows={items}
            keyOf={({ id }) => id}
            empty={t('no_alarms')}
            columns={[
              {
                name: t('when'),
                cell: ({ created_at: at }) => <When at={at} precision="second" />,
              },
              { name: t('kind'), cell: ({ alert_type: type }) => type.replaceAll('_', ' ') },
              { name: t('state'), cell: ({ alert_status: state }) => <State of={state} /> },
              { name: t('record'), cell: ({ entity_id: id }) => <Id id={id} /> },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

/** The clock of a development environment; what runs by the time of the machine elsewhere. */
export function TimeMachine() {
  return (
    <>
      <Title of={t('time_machine')} />
      {may('GET', '/test_clocks') && isDevelopment() ? <Clocks /> : <p>{t('real_time')}</p>}
      <Jobs />
      {may('POST', '/alerts/search') && <Alarms />}
    </>
  );
}
