import { addressOf, navigate, place } from '../app/router.js';
import { may } from '../data/api.js';
import { reload, useAction, useLoad, type Action } from '../data/load.js';
import {
  developmentEnvironment,
  isDevelopment,
  readProgress,
  STEPS,
  type Progress,
  type Step,
} from '../data/first-steps.js';
import { Field, Form, type Answers } from '../parts/form.js';
import { Failure, Show } from '../parts/states.js';
import { Title } from '../parts/title.js';
import { To } from '../parts/values.js';
import { plain, t } from '../words/words.js';

/** The request of a step as a line for a shell. */
function curlOf({ path, sample }: Step, progress: Progress): string {
  const body = JSON.stringify(sample(progress));
  const heads = `-H "x-api-key: $KEY" -H 'content-type: application/json'`;
  return `curl -s ${location.origin}/v1${path} ${heads} -d '${body}'`;
}

type StepProps = {
  step: Step;
  number: number;
  progress: Progress;
  isLocked: boolean;
};

function StepItem({ step, number, progress, isLocked }: StepProps) {
  const isDone = step.isDone(progress);
  const isNext = STEPS.find((each) => !each.isDone(progress)) === step;
  const send = async (answers: Answers): Promise<void> => {
    await step.send(answers, progress);
    reload();
  };
  return (
    <li class={isDone ? 'done' : ''}>
      <h2>
        <span aria-hidden="true">{isDone ? '✓' : String(number)}</span> {plain(step.word)}
        {isDone && <span class="hidden"> {t('done')}</span>}
      </h2>
      {isNext && (
        <>
          <p>{plain(step.why)}</p>
          <Form submit={plain(step.submit)} send={send} isLocked={isLocked}>
            {step.fields.map(({ name, label, value }) => (
              <Field key={name} name={name} label={plain(label)} value={value} />
            ))}
          </Form>
          <details class="curl">
            <summary>{t('as_curl')}</summary>
            <pre tabIndex={0}>{curlOf(step, progress)}</pre>
          </details>
        </>
      )}
    </li>
  );
}

async function goToDevelopment(): Promise<void> {
  const environmentId = await developmentEnvironment();
  navigate(addressOf({ environmentId, path: '/first-steps', query: {} }));
}

/** The way to the environment whose clock can be turned. */
function ToDevelopment({ going }: { going: Action }) {
  if (isDevelopment() || !may('POST', '/environments')) return null;
  return (
    <p>
      {t('development_hint')}{' '}
      <button type="button" data-writes disabled={going.isRunning} onClick={going.run}>
        {t('to_development')}
      </button>
      <Failure error={going.error} />
    </p>
  );
}

/** What to do first on an empty installation, until the first invoice stands there. */
export function FirstSteps() {
  const found = useLoad(`first steps ${place.value.environmentId}`, readProgress);
  // Meanwhile the forms would write to the environment that is left.
  const going = useAction(goToDevelopment);
  return (
    <>
      <Title of={t('first_steps')} />
      <ToDevelopment going={going} />
      <Show of={found}>
        {(progress) => (
          <>
            <ol class="steps-to-do">
              {STEPS.map((step, index) => (
                <StepItem
                  key={step.word}
                  step={step}
                  number={index + 1}
                  progress={progress}
                  isLocked={going.isRunning || (found.state === 'ready' && found.isReloading)}
                />
              ))}
            </ol>
            {progress.invoiceId !== null && (
              <p class="verdict good">
                <To pattern="/invoices/:id" names={{ id: progress.invoiceId }}>
                  {t('open_first_invoice')}
                </To>
              </p>
            )}
          </>
        )}
      </Show>
    </>
  );
}
