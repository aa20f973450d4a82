import type { ComponentChildren } from 'preact';
import { MinutebookError } from '../../client/minutebook-error.js';
import type { Loaded } from '../data/load.js';
import { t } from '../words/words.js';

function isNotFound(error: unknown): boolean {
  return error instanceof MinutebookError && error.status === 404;
}

function messageOf(error: unknown): string {
  if (isNotFound(error)) return t('not_found');
  return error instanceof Error ? error.message : t('unknown_error');
}

/** What the server says of each member, and what to tell whoever runs it. */
function Refused({ refusal }: { refusal: MinutebookError }) {
  const details = Object.entries(isNotFound(refusal) ? {} : refusal.details);
  return (
    <>
      {details.length > 0 && (
        <ul>
          {details.map(([member, problem]) => (
            <li key={member}>
              <code>{member}</code> {String(problem)}
            </li>
          ))}
        </ul>
      )}
      <p class="quiet">
        {t('error_code')} <code>{refusal.code}</code> · {t('request_id')}{' '}
        <code>{refusal.requestId ?? '–'}</code>
      </p>
    </>
  );
}

/** Why something failed. What is not there is not there the next time either. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error === null || error === undefined) return null;
  return (
    <div class="failure" role="alert">
      <p>{messageOf(error)}</p>
      {error instanceof MinutebookError && <Refused refusal={error} />}
      {retry !== undefined && !isNotFound(error) && (
        <button type="button" onClick={retry}>
          {t('retry')}
        </button>
      )}
    </div>
  );
}

type ShowProps<T> = { of: Loaded<T>; children: (value: T) => ComponentChildren };

/** What was read, or why it is not there. */
export function Show<T>({ of, children }: ShowProps<T>) {
  switch (of.state) {
    case 'loading':
      return (
        <p class="loading" role="status">
          {t('loading')}
        </p>
      );
    case 'failed':
      return <Failure error={of.error} retry={of.retry} />;
    case 'ready':
      return <>{children(of.value)}</>;
  }
}

export function Section(props: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section>
      <header class="section-head">
        <h2>{props.title}</h2>
        {props.actions}
      </header>
      {props.children}
    </section>
  );
}

type Fact = readonly [name: string, value: ComponentChildren];

/** Names with what they are, in two columns. */
export function Facts({ of }: { of: readonly Fact[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
