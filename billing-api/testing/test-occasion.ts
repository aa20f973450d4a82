import type { Environment } from '../../contract/environment.js';
import type { Occasion, RequestActor } from '../records/occasion.js';

/** Somebody who calls an operation directly, without a request. */
export function testOccasion({
  environment,
  userId,
  claim = null,
}: {
  readonly environment: Environment;
  readonly userId: string;
  readonly claim?: RequestActor['claim'];
}): Occasion<RequestActor> {
  const actor = { userId, apiKeyId: null, requestId: 'request_1', claim };
  return { environment, actor: { kind: 'request', ...actor } };
}
