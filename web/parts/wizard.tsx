import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { reload, useAction } from '../data/load.js';
import { plain, t, type PlainWord } from '../words/words.js';
import { Form, Question, type Answers, type Asked } from './form.js';
import { WriteFailure } from './refusal.js';

type Steps<Shown> = {
  /** What the server says would happen, with nothing of it stored. */
  preview: (answers: Answers) => Promise<Shown>;
  show: (shown: Shown) => ComponentChildren;
  execute: (answers: Answers, shown: Shown) => Promise<void>;
  /** The record that changes, whose latest changes a refusal tells. */
  record: string;
};

type WizardProps<Shown> = Steps<Shown> & {
  title: PlainWord;
  ask?: PlainWord;
  fields: readonly Asked[];
  close: () => void;
};

type ConfirmProps<Shown> = Steps<Shown> & {
  answers: Answers;
  shown: Shown;
  back: () => void;
};

/** What was shown, and the button that does exactly that. */
function Confirm<Shown>({ answers, shown, show, execute, record, back }: ConfirmProps<Shown>) {
  const executing = useAction(async () => {
    await execute(answers, shown);
    reload();
  });
  return (
    <>
      {show(shown)}
      <WriteFailure error={executing.error} record={record} />
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
        <button type="button" disabled={executing.isRunning} onClick={back}>
          {t('back')}
        </button>
      </div>
    </>
  );
}

/** First what it would do, then exactly that. */
export function Wizard<Shown>(props: WizardProps<Shown>) {
  const { title, ask, fields, close, ...steps } = props;
  const [before, setBefore] = useState<{ answers: Answers; shown: Shown } | null>(null);
  const [isBack, setBack] = useState(false);
  const answered = before?.answers ?? {};
  return (
    <section class="wizard">
      <h2>{plain(title)}</h2>
      {before !== null && !isBack ? (
        <Confirm {...steps} {...before} back={() => setBack(true)} />
      ) : (
        <Form
          submit={t('show_effect')}
          cancel={close}
          record={steps.record}
          send={async (answers) => {
            setBefore({ answers, shown: await steps.preview(answers) });
            setBack(false);
          }}
        >
          {ask !== undefined && <p>{plain(ask)}</p>}
          {fields.map((field) => (
            <Question
              key={field.name}
              {...field}
              value={answered[field.name] ?? field.value ?? ''}
            />
          ))}
        </Form>
      )}
    </section>
  );
}
