import { ExpressTemplateService, type TsoaRoute } from '@tsoa/runtime';
import type { Response } from 'express';
import { ABSENT_MEMBERS } from '../../generated/absent-members.js';
import { answerSchemas, createCompleter, type AnswerSchema } from '../complete-answer.js';
import { operationIfDeclared } from '../operations.js';
import { contextOf } from '../request-context.js';
import { StrictValidationService, type Settings } from './strict-validation-service.js';
import { longPageOf, UnwrittenPage, type LongPage } from '../unwritten-page.js';

const SCHEMAS = answerSchemas(ABSENT_MEMBERS);

/** An answer with the members that typed clients want, and ours lacks (docs/http.md 18). */
function completed({ req }: Response, answer: unknown): unknown {
  const operation = operationIfDeclared(req);
  const { caller } = contextOf(req);
  const schema = operation === null || caller === null ? undefined : SCHEMAS.get(operation.id);
  const { tenantId = '', environmentId = '' } = caller?.environment ?? {};
  const complete = createCompleter({ tenant_id: tenantId, environment_id: environmentId });
  const whole = (of: AnswerSchema | undefined, part: unknown): unknown => {
    const long = longPageOf(part);
    if (long === null) return complete(of, part);
    const { page, list, items } = long;
    const itemSchema = of?.inner.get(list);
    // The list keeps its place among the members.
    const around = complete(of, { ...page, [list]: [] }) as LongPage['page'];
    return new UnwrittenPage({ page: around, list, items }, (item) => whole(itemSchema, item));
  };
  return whole(schema, answer);
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
