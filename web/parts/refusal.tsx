import { MinutebookError } from '../../client/minutebook-error.js';
import { may } from '../data/api.js';
import { t } from '../words/words.js';
import { LatestChanges } from './changes.js';
import { Failure } from './states.js';

/** Somebody else has changed the record since it was shown. */
const isStale = (error: unknown): boolean =>
  error instanceof MinutebookError && error.code === 'version_conflict';

/** Why a write was refused; one of what is shown no longer so says what has changed it. */
export function WriteFailure({ error, record }: { error: unknown; record: string | null }) {
  return (
    <>
      <Failure error={error} />
      {isStale(error) && record !== null && may('POST', '/audit/search') && (
        <div class="stale">
          <p>{t('changed_meanwhile')}</p>
          <LatestChanges id={record} />
        </div>
      )}
    </>
  );
}
