import {
  ExpressTemplateService,
  ValidationService,
  type FieldErrors,
  type TsoaRoute,
} from '@tsoa/runtime';

type Settings = ConstructorParameters<typeof ValidationService>[1];
type ArrayLimits = {
  readonly minItems?: { readonly value: number };
  readonly maxItems?: { readonly value: number };
};

function lengthProblem(length: number, limits: ArrayLimits | undefined): string | null {
  const least = limits?.minItems?.value ?? 0;
  const most = limits?.maxItems?.value ?? Infinity;
  if (length < least) return `has fewer than ${least} elements`;
  return length > most ? `has more than ${most} elements` : null;
}

/** Where tsoa is too lenient, or forgets where in a body it is. The signatures are tsoa's. */
/* eslint-disable max-params */
class StrictValidationService extends ValidationService {
  /** tsoa compares texts: a list of one text would pass as that text. */
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

  /**
   * tsoa names an element without the members around the list, and checks elements of any number.
   */
  override validateArray(
    name: string,
    value: unknown,
    fieldErrors: FieldErrors,
    isBodyParam: boolean,
    schema?: TsoaRoute.PropertySchema,
    validators?: ArrayLimits,
    parent = '',
  ): unknown[] | undefined {
    const path = `${parent}${name}`;
    const isList = Array.isArray(value) && schema !== undefined;
    const problem = isList ? lengthProblem(value.length, validators) : 'is no list';
    if (problem !== null) fieldErrors[path] = { message: problem, value };
    if (!isList || problem !== null) return undefined;
    return value.map((element, index) =>
      this.ValidateParam(schema, element, `$${index}`, fieldErrors, isBodyParam, `${path}.`),
    );
  }
}
/* eslint-enable max-params */

/** What the generated routes validate with. */
export class StrictTemplateService extends ExpressTemplateService {
  constructor(models: TsoaRoute.Models, settings: Settings) {
    super(models, settings);
    this.validationService = new StrictValidationService(models, settings);
  }
}
