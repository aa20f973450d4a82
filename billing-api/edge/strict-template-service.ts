import { ExpressTemplateService, type TsoaRoute } from '@tsoa/runtime';
import type { Response } from 'express';
import { ABSENT_MEMBERS } from '../generated/absent-members.js';
import { completeAnswer } from './complete-answer.js';
import { operationIfDeclared } from './operations.js';
import { contextOf } from './request-context.js';
import { StrictValidationService, type Settings } from './strict-validation-service.js';

/** An answer with the members that typed clients want, and ours lacks (docs/http.md 18). */
function completed({ req }: Response, answer: unknown): unknown {
  const operation = operationIfDeclared(req);
  const { caller } = contextOf(req);
  if (operation === null || caller === null) return answer;
  const { tenantId, environmentId } = caller.environment;
  const common = { tenant_id: tenantId, environment_id: environmentId };
  return completeAnswer(ABSENT_MEMBERS, { operationId: operation.id, answer }, common);
}

type Answer = Parameters<ExpressTemplateService['returnHandler']>[0];

/** What the generated routes validate with, and answer by. */
export class StrictTemplateService extends ExpressTemplateService {
  constructor(models: TsoaRoute.Models, settings: Settings) {
    super(models, settings);
    this.validationService = new StrictValidationService(models, settings);
  }

  protected override returnHandler(answer: Answer): void {
    super.returnHandler({ ...answer, data: completed(answer.response, answer.data) });
  }
}
