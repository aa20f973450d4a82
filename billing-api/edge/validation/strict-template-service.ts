import { ExpressTemplateService, type TsoaRoute } from '@tsoa/runtime';
import type { Response } from 'express';
import { ABSENT_MEMBERS } from '../../generated/absent-members.js';
import { answerSchemas, createCompleter } from '../complete-answer.js';
import { operationIfDeclared } from '../operations.js';
import { contextOf } from '../request-context.js';
import { StrictValidationService, type Settings } from './strict-validation-service.js';
import { isLongPage, UnwrittenPage } from '../unwritten-page.js';

const SCHEMAS = answerSchemas(ABSENT_MEMBERS);

/** An answer with the members that typed clients want, and ours lacks (docs/http.md 18). */
function completed({ req }: Response, answer: unknown): unknown {
  const operation = operationIfDeclared(req);
  const { caller } = contextOf(req);
  const schema = operation === null || caller === null ? undefined : SCHEMAS.get(operation.id);
  const { tenantId = '', environmentId = '' } = caller?.environment ?? {};
  const complete = createCompleter({ tenant_id: tenantId, environment_id: environmentId });
  if (!isLongPage(answer)) return complete(schema, answer);
  const { items, ...page } = answer;
  const itemSchema = schema?.inner.get('items');
  const whole = { ...(complete(schema, page) as object), items };
  return new UnwrittenPage(whole, (item) => complete(itemSchema, item));
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
