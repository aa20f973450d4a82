import {
  ExpressTemplateService,
  ValidationService,
  type FieldErrors,
  type TsoaRoute,
} from '@tsoa/runtime';

type Settings = ConstructorParameters<typeof ValidationService>[1];

/**
 * tsoa compares texts: a list of one text would pass as that text. Types are checked here first.
 */
class StrictValidationService extends ValidationService {
  // The signature is tsoa's.
  // eslint-disable-next-line max-params
  override validateEnum(
    name: string,
    value: unknown,
    fieldErrors: FieldErrors,
    members?: (string | number | boolean | null)[],
    parent = '',
  ): unknown {
    if (members?.some((member) => member === value) === true) return value;
    const known = (members ?? []).join(', ');
    fieldErrors[parent + name] = { message: `is not one of ${known}`, value };
    return undefined;
  }
}

/** What the generated routes validate with. */
export class StrictTemplateService extends ExpressTemplateService {
  constructor(models: TsoaRoute.Models, settings: Settings) {
    super(models, settings);
    this.validationService = new StrictValidationService(models, settings);
  }
}
