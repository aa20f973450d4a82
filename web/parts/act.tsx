import type { ComponentChildren } from 'preact';
import { place, setQuery } from '../app/router.js';
import { reload } from '../data/load.js';
import { plain, type PlainWord } from '../words/words.js';
import { Dialog, Form, Question, type Answers, type Asked } from './form.js';

type ActProps = {
  /** Its name on the button, and in the address while it is asked for. */
  name: PlainWord;
  /** What it is done to, where a screen offers it for several records. */
  of?: string;
  /** What it means, in a sentence. */
  ask?: PlainWord;
  fields?: readonly Asked[];
  /** The record that is written, whose latest changes a refusal tells. */
  record?: string;
  send: (answers: Answers) => Promise<void>;
  /** What is shown or asked before the fields. */
  children?: ComponentChildren;
  /** What is asked after them. */
  last?: ComponentChildren;
};

/** Opens or closes what the address says is asked for, and keeps the page of the list. */
function askFor(doing: string): void {
  const { page = '' } = place.value.query;
  setQuery({ do: doing, page });
}

/**
 * A button that asks before it writes. Offer it where `may` says so. The address says that the
 * dialog is open, so that a reload or the way back shows the same.
 */
export function Act({ name, of = '', ask, fields = [], ...rest }: ActProps) {
  const { send, children, last, record } = rest;
  const doing = of === '' ? name : `${name} ${of}`;
  const close = (): void => askFor('');
  const isOpen = place.value.query['do'] === doing;
  return (
    <>
      <button type="button" data-writes onClick={() => askFor(doing)}>
        {plain(name)}
      </button>
      {isOpen && (
        <Dialog title={plain(name)} close={close}>
          {ask !== undefined && <p>{plain(ask)}</p>}
          <Form
            submit={plain(name)}
            cancel={close}
            {...(record === undefined ? {} : { record })}
            send={async (answers) => {
              const { path } = place.value;
              await send(answers);
              reload();
              // Where it leads elsewhere there is nothing left to close.
              if (place.value.path === path) close();
            }}
          >
            {children}
            {fields.map((field) => (
              <Question key={field.name} {...field} />
            ))}
            {last}
          </Form>
        </Dialog>
      )}
    </>
  );
}
