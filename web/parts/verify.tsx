import type { ComponentChildren } from 'preact';
import { call } from '../data/api.js';
import { useAction } from '../data/load.js';
import { t } from '../words/words.js';
import { signal, type Signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { Schemas } from '../data/api.js';
import { Facts, Failure } from './states.js';
import { Table } from './table.js';

type Verified = Schemas['VerificationDto'];

function verdict(isSame: boolean | null): string {
  if (isSame === null) return t('cannot_say');
  return isSame ? t('same') : t('differs');
}

function Differences({ of }: { of: Verified['differences'] }) {
  if (of.length === 0) return null;
  return (
    <Table
      caption={t('differences')}
      rows={of}
      keyOf={({ from, line_item_id: line, member }) => `${from} ${line ?? ''} ${member}`}
      columns={[
        { name: t('from'), cell: ({ from }) => from },
        { name: t('line'), cell: ({ line_item_id: line }) => <code>{line ?? '–'}</code> },
        { name: t('member'), cell: ({ member }) => <code>{member}</code> },
        { name: t('stored'), isNumber: true, cell: ({ stored }) => stored ?? '–' },
        { name: t('computed'), isNumber: true, cell: ({ computed }) => computed ?? '–' },
      ]}
    />
  );
}

/** What computing an invoice again has shown. */
function Verdict({ of }: { of: Verified }) {
  const isRight = of.same_from_inputs && of.same_from_events !== false;
  return (
    <div class={`verdict ${isRight ? 'good' : 'bad'}`} role="status">
      <Facts
        of={[
          [t('same_from_inputs'), verdict(of.same_from_inputs)],
          [t('same_from_events'), verdict(of.same_from_events)],
          [t('inputs_hash'), <code>{of.inputs_sha256}</code>],
          [t('result_hash'), <code>{of.result_sha256}</code>],
          [t('rules_version'), String(of.rules_version)],
        ]}
      />
      {of.reason !== null && <p class="quiet">{of.reason}</p>}
      <Differences of={of.differences} />
    </div>
  );
}

/** Computes an invoice again, from its stored inputs and from the stored events. */
export function Verify({
  invoiceId,
  children,
}: {
  invoiceId: string;
  children?: ComponentChildren;
}) {
  const [outcome] = useState<Signal<Verified | null>>(() => signal(null));
  const verifying = useAction(async () => {
    outcome.value = await call('GET', '/invoices/{id}/verify', { path: { id: invoiceId } });
  });
  const verified = outcome.value;
  return (
    <div class="verify">
      <div class="buttons">
        <button type="button" class="main" disabled={verifying.isRunning} onClick={verifying.run}>
          {verifying.isRunning ? t('verifying') : t('verify')}
        </button>
        {children}
      </div>
      <Failure error={verifying.error} />
      {verified !== null && <Verdict of={verified} />}
    </div>
  );
}
