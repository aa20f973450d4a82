import { place } from '../app/router.js';
import { finalizing, stopFinalizing } from '../data/finalizing.js';
import { groupDigits } from '../words/digits.js';
import { t } from '../words/words.js';
import { Table } from './table.js';
import { Id } from './values.js';

/** How far the finalizing of many drafts is, wherever one looks. */
export function FinalizingProgress() {
  const state = finalizing.value;
  if (state === null || state.environmentId !== place.value.environmentId) return null;
  const { ids, done, refused, isRunning } = state;
  const values = { done: groupDigits(String(done)), of: groupDigits(String(ids.length)) };
  return (
    <div class="progress" role="status">
      <label>
        <span>{isRunning ? t('finalizing_of', values) : t('finalized_of', values)}</span>
        <progress max={Math.max(ids.length, 1)} value={done} />
      </label>
      <div class="buttons">
        {isRunning ? (
          <button type="button" onClick={stopFinalizing}>
            {t('stop')}
          </button>
        ) : (
          <button type="button" onClick={() => (finalizing.value = null)}>
            {t('close')}
          </button>
        )}
      </div>
      {refused.length > 0 && (
        <Table
          caption={t('refused')}
          rows={refused}
          keyOf={({ id }) => id}
          columns={[
            { name: t('invoice'), cell: ({ id }) => <Id id={id} /> },
            { name: t('reason'), cell: ({ reason }) => reason },
          ]}
        />
      )}
    </div>
  );
}
